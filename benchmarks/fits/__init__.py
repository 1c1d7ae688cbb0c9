"""How the weights that the packages hold were fitted; each command fits them anew."""
