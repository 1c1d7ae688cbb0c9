"""Run the steps over the connection that the caller has opened, in its transaction."""

from alembic import context

from app.wings.postgres.schema import SCHEMA

context.configure(connection=context.config.attributes["connection"], version_table_schema=SCHEMA)
context.run_migrations()
