/* Writes every name that a process looks up into the file $LOOKUPS, whichever library asks. Loaded by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  const char *path = getenv("LOOKUPS");
  int file = path && name ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (file >= 0) {
    dprintf(file, "%s\n", name);
    close(file);
  }
  return ((lookup *)dlsym(RTLD_NEXT, "getaddrinfo"))(name, service, hints, found);
}
