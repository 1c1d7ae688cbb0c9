"""What adds and removes documents over HTTP: the folder they are kept in, and the routes."""

from fastapi import APIRouter

from app.settings import Settings
from app.wings.uploads.routes import router
from app.wings.uploads.uploads import Uploads
from app.wiring import Services
from app.wiring.ingestion import Ingestion
from app.wiring.library import Library


def folder(settings: Settings, library: Library, ingestion: Ingestion) -> Uploads:
    return Uploads(settings, library, ingestion)


def routes(_services: Services) -> APIRouter:
    return router
