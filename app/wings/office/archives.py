"""Bound what a ZIP archive unpacks to: a small file can hold gigabytes."""

import zipfile
from typing import IO

from chains.errors import IngestionError

UNPACKED_BYTES = 32 * 2**20


def open_archive(file: IO[bytes], *, besides: tuple[str, ...] = ()) -> zipfile.ZipFile:
    """Open an archive that unpacks to little; entries whose names begin or end with one of `besides` do not count.

    An entry that says it is smaller than it is reads as damaged, so that the sizes can be believed.

    Raises:
        IngestionError: it unpacks to too much. Other errors mean damage.
    """
    archive = zipfile.ZipFile(file)
    counted = (one for one in archive.infolist() if not one.filename.startswith(besides))
    if sum(one.file_size for one in counted if not one.filename.endswith(besides)) > UNPACKED_BYTES:
        msg = f"the document unpacks to more than {UNPACKED_BYTES // 2**20} MB; split it"
        raise IngestionError(msg)
    return archive
