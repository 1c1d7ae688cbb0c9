"""The routes that add and remove documents."""

from fastapi import APIRouter

from app.wings.uploads.routes import router
from app.wiring import Service


def routes(_service: Service) -> APIRouter:
    return router
