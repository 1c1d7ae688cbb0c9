# The service in a container: pinned dependencies and the program in one environment, run by a user without rights.
FROM python:3.11-slim AS build
RUN python -m venv /opt/waypoint
ENV PATH=/opt/waypoint/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
# What builds the wheel, pinned as well, in an environment that is left behind.
COPY requirements-build.lock ./
RUN python -m venv /opt/build && /opt/build/bin/python -m pip install --no-deps --require-hashes -r requirements-build.lock
# The dependencies first: they change seldom, and their layer is kept.
COPY requirements.lock requirements-postgres.lock ./
RUN python -m pip install --no-deps --require-hashes -r requirements.lock -r requirements-postgres.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY prompts prompts
COPY chains chains
COPY app app
COPY evals evals
COPY knowledge_base knowledge_base
# pip is removed.
RUN /opt/build/bin/python -m pip wheel --no-deps --no-build-isolation --wheel-dir /dist . && \
    python -m pip install --no-deps /dist/*.whl && python -m pip uninstall --yes setuptools pip

FROM python:3.11-slim
RUN useradd --uid 10001 --create-home waypoint && install --directory --owner waypoint --group waypoint /data
COPY --from=build /opt/waypoint /opt/waypoint
ENV PATH=/opt/waypoint/bin:$PATH PYTHONUNBUFFERED=1 CHROMA_PATH=/data/chroma
USER waypoint
WORKDIR /data
# Check the model's files, build its graph and embed the examples of the scope now, and not at every start.
RUN ["python", "-c", "from waypoint.app.settings import load_settings; from waypoint.app.wiring import open_service; open_service(load_settings(), serving=False).answerer.scope.invoke({'question': 'Where is it?'})"]
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ.get(\"PORT\", 3000)}/health/ready', timeout=4)"]
# Without a shell in between, so that SIGTERM reaches the program, which then drains.
CMD ["waypoint", "serve", "--host", "0.0.0.0"]
