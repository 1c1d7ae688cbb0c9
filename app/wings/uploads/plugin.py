"""What adds and removes documents over HTTP: the folder they are kept in, and the routes."""

from fastapi import APIRouter

from app.settings import Settings
from app.wings.uploads.routes import router
from app.wings.uploads.uploads import Uploads
from app.wiring import Service
from app.wiring.index import Ingestion
from app.wiring.library import Library


def folder(settings: Settings, library: Library, ingestion: Ingestion) -> Uploads:
    return Uploads(settings, library, ingestion)


def routes(_service: Service) -> APIRouter:
    return router
