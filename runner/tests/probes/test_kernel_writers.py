"""Kernel threads that write to disks, in a made-up /proc."""

from __future__ import annotations

from pathlib import Path

from jdkmatrix.probes.kernel_writers import KernelWriters


def a_proc(folder: Path, threads: dict[int, tuple[str, int]], *, parent: str = "kthreadd") -> Path:
    """Write a made-up /proc with these kernel threads: their names, and for how many ns they ran."""
    (folder / "2/task/2").mkdir(parents=True, exist_ok=True)
    (folder / "2/comm").write_text(f"{parent}\n")
    (folder / "2/task/2/children").write_text(" ".join(map(str, threads)) + " ")
    for pid, (name, ran_ns) in threads.items():
        (folder / str(pid)).mkdir(exist_ok=True)
        (folder / f"{pid}/comm").write_text(f"{name}\n")
        (folder / f"{pid}/schedstat").write_text(f"{ran_ns} 5 7\n")
    return folder


def test_it_counts_from_the_first_reading_on_and_no_other_threads(tmp_path: Path) -> None:
    writers = KernelWriters(a_proc(tmp_path, {10: ("kworker/0:0H-kblockd", 900), 14: ("ksoftirqd/0", 50)}))
    assert writers.cpu_ns() == 0
    a_proc(tmp_path, {10: ("kworker/0:0H-events", 1000), 14: ("ksoftirqd/0", 9000)})
    assert writers.cpu_ns() == 100


def test_a_new_thread_counts_from_its_start_and_one_that_ends_takes_nothing_back(tmp_path: Path) -> None:
    writers = KernelWriters(a_proc(tmp_path, {10: ("kworker/0:1-events", 900), 11: ("jbd2/vda-8", 10)}))
    assert writers.cpu_ns() == 0
    a_proc(tmp_path, {11: ("jbd2/vda-8", 40), 12: ("kworker/u8:2-flush-254:0", 7)})
    assert writers.cpu_ns() == 37
    a_proc(tmp_path, {11: ("jbd2/vda-8", 40), 10: ("kworker/1:1-events", 5)})
    assert writers.cpu_ns() == 42, "its number was given to another"


def test_where_the_kernel_shows_none_of_its_threads_nothing_is_known(tmp_path: Path) -> None:
    assert KernelWriters(tmp_path).cpu_ns() is None
    in_a_container = a_proc(tmp_path / "container", {10: ("kworker/0:1-events", 900)}, parent="bash")
    assert KernelWriters(in_a_container).cpu_ns() is None
    without_children = a_proc(tmp_path / "kernel", {10: ("kworker/0:1-events", 900)})
    (without_children / "2/task/2/children").unlink()
    assert KernelWriters(without_children).cpu_ns() is None
