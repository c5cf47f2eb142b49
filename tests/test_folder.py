"""[RUN-1], [RUN-3] The folder of a run: listed once, no link followed, regular files only, no hang, no leak."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aef_verify import folder as module
from aef_verify.folder import Entry, Folder, Read, spelled
from aef_verify.problems import InputError

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def no_descriptor_is_left_open() -> Iterator[None]:
    """Whatever a test does to a folder, all that it opened is closed again."""
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with a file at its top, two below a folder, and overlays."""
    root = tmp_path / "run"
    for name in ("run.json", "ext/a", "ext/deep/b", "overlays/events.ndjson"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def paths(entries: list[Entry]) -> list[str]:
    return [entry.path for entry in entries]


def refused(root: Path | str, match: str = "") -> None:
    with pytest.raises(InputError, match=match):
        Folder(str(root)).close()


def test_every_file_is_listed_by_the_bytes_of_its_path(run: Path) -> None:
    """[SEAL-3]'s own example of an order, and an empty folder is nothing."""
    for name in ("ext/Z", "ext/a-b", "ext/a.b", "ext/c/d"):
        (run / name).parent.mkdir(exist_ok=True)
        (run / name).touch()
    (run / "empty/below").mkdir(parents=True)
    with Folder(str(run)) as folder:
        assert paths(folder.files) == [
            "ext/Z",
            "ext/a",
            "ext/a-b",
            "ext/a.b",
            "ext/c/d",
            "ext/deep/b",
            "run.json",
        ]
        assert paths(folder.overlays) == ["overlays/events.ndjson"]
        assert folder.irregular == folder.irregular_overlays == []
        assert folder.get("ext/deep/b") == ("ext/deep/b", "ext/deep/b")
        assert folder.get("ext") is folder.get("ext/deep") is folder.get("nothing") is folder.get("") is None


def test_a_file_is_read_whole_and_hashed(run: Path) -> None:
    data = bytes(range(256)) * 20_000
    (run / "ext/a").write_bytes(data)
    expected = Read(hashlib.sha256(data).hexdigest(), len(data))
    with Folder(str(run)) as folder:
        entry = folder.get("ext/a")
        assert entry is not None
        seen: list[int] = []
        folder.watch = seen.append
        assert folder.digest(entry) == expected
        assert sum(seen) == len(data)
        assert max(seen) <= module.BLOCK
        assert folder.size(entry) == len(data)
        assert folder.content(entry, len(data)) == (data, expected)
        assert folder.content(entry, len(data) - 1) == (None, expected)
        assert folder.within(entry, len(data)) == data
        assert folder.within(entry, len(data) - 1) is None


def test_an_empty_file(run: Path) -> None:
    (run / "ext/a").write_bytes(b"")
    with Folder(str(run)) as folder:
        entry = folder.get("ext/a")
        assert entry is not None
        assert folder.content(entry, 0) == (b"", Read(hashlib.sha256().hexdigest(), 0))


def test_enc17_what_is_beyond_a_limit_is_not_read_at_all(run: Path) -> None:
    """A sparse file of a tebibyte costs nothing."""
    os.truncate(run / "run.json", 1 << 40)
    with Folder(str(run)) as folder:
        folder.watch = lambda _: pytest.fail("a block was read")
        assert folder.within(folder.files[-1], 4 << 20) is None


def test_a_path_that_is_no_folder(run: Path, tmp_path: Path) -> None:
    refused(tmp_path / "nothing", "No such file")
    refused("", "No such file")
    refused("a\0b", "null")
    refused(run / "run.json", "not a folder")
    (tmp_path / "link").symlink_to(run)
    refused(tmp_path / "link", "link")
    (tmp_path / "loop").symlink_to("loop")
    refused(tmp_path / "loop", "link")
    refused(tmp_path / "loop/run", "Too many levels")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "not a folder")
    refused("/dev/null", "not a folder")
    refused(tmp_path / ("x" * 300), "too long")


def test_run3_links_pipes_and_sockets_are_listed_and_never_opened(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = run.parent / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (run / "to-file").symlink_to(outside / "secret")
    (run / "to-folder").symlink_to(outside)
    (run / "to-nothing").symlink_to("nowhere")
    (run / "to-itself").symlink_to("to-itself")
    (run / "to-above").symlink_to("..")
    (run / "ext/to-run").symlink_to("../run.json")
    os.mkfifo(run / "ext/pipe")
    os.mkfifo(run / "overlays/pipe")
    (run / "overlays/link").symlink_to(outside)
    monkeypatch.chdir(run)
    with socket.socket(socket.AF_UNIX) as bound, Folder(str(run)) as before:
        bound.bind("socket")
        assert "socket" not in paths(before.irregular)
        with Folder(str(run)) as folder:
            assert paths(folder.irregular) == [
                "ext/pipe",
                "ext/to-run",
                "socket",
                "to-above",
                "to-file",
                "to-folder",
                "to-itself",
                "to-nothing",
            ]
            assert paths(folder.irregular_overlays) == ["overlays/link", "overlays/pipe"]
            assert paths(folder.files) == ["ext/a", "ext/deep/b", "run.json"]
            assert folder.get("to-file") is folder.get("ext/pipe") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a device")
def test_run3_a_device_is_listed_and_never_opened(run: Path) -> None:
    try:
        os.mknod(run / "null", 0o600 | 0o020000, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("no device can be made here")
    with Folder(str(run)) as folder:
        assert paths(folder.irregular) == ["null"]


def test_run3_an_entry_overlays_that_is_a_link_or_a_file(run: Path) -> None:
    shutil.rmtree(run / "overlays")
    (run / "overlays").symlink_to("ext")
    with Folder(str(run)) as folder:
        assert (paths(folder.irregular), folder.overlays, folder.irregular_overlays) == (["overlays"], [], [])
    (run / "overlays").unlink()
    (run / "overlays").touch()
    with Folder(str(run)) as folder:
        assert (paths(folder.files)[-2:], folder.overlays) == (["overlays", "run.json"], [])


Swap = Callable[[Path, Path], None]


def swap_file(run: Path, outside: Path) -> None:
    (run / "ext/deep/b").unlink()
    (run / "ext/deep/b").symlink_to(outside / "deep/b")


def swap_folder(run: Path, outside: Path) -> None:
    shutil.rmtree(run / "ext/deep")
    (run / "ext/deep").symlink_to(outside / "deep")


def swap_above(run: Path, outside: Path) -> None:
    shutil.rmtree(run / "ext")
    (run / "ext").symlink_to(outside)


def swap_pipe(run: Path, outside: Path) -> None:
    (run / "ext/deep/b").unlink()
    os.mkfifo(run / "ext/deep/b")


def swap_socket(run: Path, outside: Path) -> None:
    (run / "ext/deep/b").unlink()
    above = os.getcwd()
    os.chdir(run / "ext/deep")
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("b")
    finally:
        os.chdir(above)


def swap_for_folder(run: Path, outside: Path) -> None:
    (run / "ext/deep/b").unlink()
    (run / "ext/deep/b").mkdir()


def swap_for_nothing(run: Path, outside: Path) -> None:
    shutil.rmtree(run / "ext")


SWAPS = [swap_file, swap_folder, swap_above, swap_pipe, swap_socket, swap_for_folder, swap_for_nothing]


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "after a neighbour was read"])
def test_run3_what_is_exchanged_after_the_listing_is_not_followed(run: Path, swap: Swap, warm: bool) -> None:
    """The neighbour in the top folder leaves no open folder to begin from, and the file's bytes are never another's."""
    outside = run.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep/b").write_text("secret")
    with Folder(str(run)) as folder:
        entry = folder.get("ext/deep/b")
        above = folder.get("ext/a")
        assert entry is not None
        assert above is not None
        if warm:
            folder.digest(above)
        swap(run, outside)
        for read in (folder.open, folder.size, folder.digest):
            with pytest.raises(InputError, match="deep/b"):
                read(entry)
        with pytest.raises(InputError, match="deep/b"):
            folder.content(entry, 100)


def test_run3_a_folder_exchanged_for_a_link_while_the_run_is_listed(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def swapping(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == "deep" and not (run / "ext/deep").is_symlink():
            swap_folder(run, run.parent)
        return opened(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swapping)
    refused(run, "cannot be searched")


def test_a_folder_that_goes_away_while_it_is_read(run: Path) -> None:
    """One that was moved is still the one that was listed: its bytes are read where they are now."""
    with Folder(str(run)) as folder:
        run.rename(run.parent / "moved")
        assert folder.content(folder.files[0], 100)[0] == b"ext/a"


@pytest.mark.parametrize("change", ["longer", "shorter", "same size"])
def test_a_file_that_changes_while_it_is_read_is_refused(run: Path, change: str) -> None:
    size = 3 * module.BLOCK
    file = run / "ext/a"
    file.write_bytes(bytes(size))
    os.utime(file, ns=(0, 0))
    with Folder(str(run)) as folder:

        def hook(_: int) -> None:
            folder.watch = None
            if change == "longer":
                with open(file, "ab") as out:
                    out.write(b"more")
            elif change == "shorter":
                os.truncate(file, 2 * module.BLOCK)
            else:
                with open(file, "r+b") as out:
                    out.write(b"x")

        entry = folder.files[0]
        for read in (
            folder.digest,
            lambda found: folder.content(found, size),
            lambda found: folder.within(found, size),
        ):
            folder.watch = hook
            with pytest.raises(InputError, match="changed while it was read"):
                read(entry)
            file.write_bytes(bytes(size))
            os.utime(file, ns=(0, 0))
        assert folder.digest(entry).size == size


def test_a_file_of_which_less_is_read_than_it_has_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As some file systems state a size that their files do not have."""
    with Folder(str(run)) as folder:
        entry = folder.files[0]
        read = os.read
        with monkeypatch.context() as patch:
            patch.setattr(os, "read", lambda fd, size: read(fd, size)[:-1])
            with pytest.raises(InputError, match="changed while it was read"):
                folder.digest(entry)
        (run / "ext/a").write_bytes(bytes(2 * module.BLOCK))
        with monkeypatch.context() as patch:
            patch.setattr(os, "readv", lambda *_: 0, raising=False)
            with pytest.raises(InputError, match="changed while it was read"):
                folder.digest(entry)
        assert folder.digest(entry).size == 2 * module.BLOCK


def test_a_file_that_grows_as_fast_as_it_is_read_is_refused_and_has_an_end(run: Path) -> None:
    with Folder(str(run)) as folder, open(run / "ext/a", "ab", buffering=0) as out:
        (run / "ext/a").write_bytes(bytes(2 * module.BLOCK))
        blocks: list[int] = []

        def grow(count: int) -> None:
            blocks.append(count)
            if len(blocks) < 50:
                out.write(bytes(count))

        folder.watch = grow
        with pytest.raises(InputError, match="changed while it was read"):
            folder.digest(folder.files[0])
    assert len(blocks) < 50


def test_reading_that_is_broken_off_leaves_nothing_open(run: Path) -> None:
    (run / "ext/a").write_bytes(bytes(2 * module.BLOCK))
    with Folder(str(run)) as folder:
        blocks = folder.blocks(folder.files[0], [])
        next(blocks)
        del blocks


def test_close_can_be_said_twice_and_reading_opens_again(run: Path) -> None:
    folder = Folder(str(run))
    assert folder.digest(folder.files[1]).size == 10
    folder.close()
    folder.close()
    assert folder.digest(folder.files[1]).size == 10
    folder.close()


def nested(root: Path, names: list[bytes]) -> None:
    """Make folders within each other, and a file in the last, also where the path is longer than the system takes."""
    fd = os.open(root, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(os.open(b"file", os.O_WRONLY | os.O_CREAT, dir_fd=fd))
    os.close(fd)


@pytest.mark.parametrize(("levels", "file"), [(200, True), (201, False), (300, False)])
def test_a_tree_is_searched_to_200_folders_below_each_other(run: Path, levels: int, file: bool) -> None:
    """The reading: a deeper folder is reported itself; every path in it breaks [RUN-3]'s 255 bytes anyway."""
    nested(run, [b"d"] * levels)
    nested(run / "overlays", [b"d"] * (levels - 1))
    below = "/".join(["d"] * 200 + ["file"])
    deep = "/".join(["d"] * 201)
    with Folder(str(run)) as folder:
        assert (below in paths(folder.files)) is file
        assert paths(folder.irregular) == ([] if file else [deep])
        over = "overlays/" + deep[:-2]
        assert paths(folder.irregular_overlays) == ([] if file else [over])
        if file:
            assert folder.digest(folder.files[0]).size == 0


def test_paths_longer_than_the_system_takes_are_listed_and_read(run: Path) -> None:
    nested(run, [b"x" * 255] * 40)
    path = "/".join(["x" * 255] * 40 + ["file"])
    assert len(path) > 4096
    with Folder(str(run)) as folder:
        assert folder.files[-1].path == path
        assert folder.digest(folder.files[-1]).size == 0


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b"plain", "plain"),
        ("é😀".encode(), "é😀"),
        (b"n\xffo.txt", "n\ufffdo.txt"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xc3(", "\ufffd("),
        (b"\xe2\x82x", "\ufffdx"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        ("\ufffd".encode(), "\ufffd"),
        (b"a\nb", "a\nb"),
    ],
)
def test_a_name_is_spelled_with_one_replacement_a_maximal_ill_formed_part(name: bytes, path: str) -> None:
    assert spelled(os.fsdecode(name)) == path


def test_names_that_are_not_unicode_are_listed_read_and_in_one_order_always(run: Path) -> None:
    """Two names may be spelled alike; neither can be asked for by that path."""
    top = os.fsencode(run)
    for at, name in enumerate((b"n\xffo", b"n\xfeo", b"n\xef\xbf\xbdo", b"d\xff/x", b"overlays/\xff")):
        os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
        with open(os.path.join(top, name), "wb") as out:
            out.write(bytes(at))
    with Folder(str(run)) as folder:
        odd = [entry for entry in folder.files if "\ufffd" in entry.path]
        assert paths(odd) == ["d\ufffd/x", "n\ufffdo", "n\ufffdo", "n\ufffdo"]
        assert [folder.digest(entry).size for entry in odd] == [3, 2, 1, 0]
        assert paths(folder.overlays) == ["overlays/events.ndjson", "overlays/\ufffd"]
        assert folder.get("n\ufffdo") == ("n\ufffdo", "n\ufffdo")
        assert folder.get("d\ufffd/x") is None


CHILD = """
import os, sys
sys.path.insert(0, sys.argv[1])
from aef_verify.folder import Folder
from aef_verify.problems import InputError
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    with Folder(sys.argv[2]) as folder:
        for entry in folder.files:
            folder.digest(entry)
except InputError as fault:
    print(fault)
"""


@pytest.mark.parametrize(
    ("closed", "words"),
    [
        ("run.json", "run.json: cannot be read: Permission denied"),
        ("ext", "cannot be searched: Permission denied"),
        ("ext/deep", "cannot be searched: Permission denied"),
        (".", "cannot be searched: Permission denied"),
    ],
)
def test_what_cannot_be_read_is_the_callers_to_know(closed: str, words: str) -> None:
    """In a child that is another user, as root reads everything: said in one line, not a verdict."""
    root = Path(tempfile.mkdtemp())
    try:
        root.chmod(0o755)
        run = root / "run"
        (run / "ext/deep").mkdir(parents=True)
        for name in ("run.json", "ext/deep/b"):
            (run / name).write_text(name)
        (run / closed).chmod(0)
        child = subprocess.run(
            [sys.executable, "-I", "-c", CHILD, str(ROOT), str(run)], capture_output=True, text=True, check=False
        )
        assert child.stderr == ""
        assert child.stdout.strip().endswith(words)
    finally:
        for folder in (root / "run", root / "run/ext", root / "run/ext/deep"):
            folder.chmod(0o755)
        shutil.rmtree(root)
