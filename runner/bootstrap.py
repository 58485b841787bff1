"""Make the tool's own environment, `.venv`: check the host first, then install what the lock files say.

Run by `make` with the host's Python and nothing but the standard library. Does nothing if the environment is already
what the lock files say. It bears a stamp for each purpose that it was completed for, and none while something is being
installed: without one it is made anew. Kept in the syntax of Python 3.6, so that an old Python gets the message about
its version and not a SyntaxError.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
RUNNER = os.path.join(ROOT, "runner")
LOCK = os.path.join(ROOT, ".build", "venv.lock")
LOCKS = {"run": ["requirements.txt"], "test": ["requirements.txt", "requirements-dev.txt"]}


def main(purpose):
    problems = host_problems(purpose)
    if problems:
        sys.exit("\n".join("needed: " + problem for problem in problems))
    if stamp(purpose) != fingerprint(purpose):
        with alone() as lock:
            if stamp(purpose) != fingerprint(purpose):
                install(purpose, lock)


def host_problems(purpose):
    """List what this host lacks, one line each, in seconds and before anything is downloaded."""
    if not sys.platform.startswith("linux"):
        return ["Linux; this is " + sys.platform]
    if sys.version_info < (3, 11):
        found = ".".join(map(str, sys.version_info[:2]))
        return ["Python 3.11 to 3.14; found " + found + " (install one, then: make PYTHON=python3.12)"]
    sys.path.insert(0, RUNNER)
    from jdkmatrix.provision.hosttools import problems as tool_problems

    problems = tool_problems()
    if purpose == "test":
        problems += test_problems(install=not problems)
    return problems


TEST_PROGRAMS = {
    "chromium": "for the tests of the report",
    "cargo": "for the linters of Nix files",
    "git": "for the tests of the flake",
    "unzip": "for the tests of the flake",
}


def test_problems(install):
    """List what the tests need besides; with `install`, it is installed here, as root on Debian."""
    missing = [program for program in TEST_PROGRAMS if not shutil.which(program)]
    if install and missing and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.call(["apt-get", "update", "-qq"])
        install_missing = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"] + missing
        subprocess.call(install_missing, stdout=subprocess.DEVNULL)
    return [
        program + " on PATH, " + why + " (on Debian: apt-get install " + program + ")"
        for program, why in TEST_PROGRAMS.items()
        if not shutil.which(program)
    ]


def made_with():
    """Name Python and folder: the environment's programs name its folder; packages lie in one named after Python."""
    return " ".join(sys.version.split()) + " in " + ROOT


def fingerprint(purpose):
    """Return a text that changes when a lock file, the package's metadata, the interpreter or the place does."""
    digest = hashlib.sha256()
    for name in LOCKS[purpose] + ["pyproject.toml"]:
        with open(os.path.join(RUNNER, name), "rb") as file:
            digest.update(file.read())
    return made_with() + "\n" + digest.hexdigest()


def stamp_path(purpose):
    return os.path.join(VENV, ".ready-" + purpose)


def stamp(purpose):
    """Return the stamp; empty where there is none, or where the environment's interpreter is gone."""
    if not os.path.exists(os.path.join(VENV, "bin", "python")):
        return ""
    try:
        with open(stamp_path(purpose)) as file:
            return file.read()
    except OSError:
        return ""


@contextlib.contextmanager
def alone():
    """Wait until no other process makes the environment; yield the lock, as a file descriptor."""
    os.makedirs(os.path.dirname(LOCK), exist_ok=True)
    with open(LOCK, "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another set-up of .venv to end", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


def install(purpose, lock):
    print("setting up .venv (" + ", ".join(LOCKS[purpose]) + ")", flush=True)
    python = os.path.join(VENV, "bin", "python")
    ready = [each for each in LOCKS if stamp(each) and stamp(each) == fingerprint(each)]
    done = [name for each in ready for name in LOCKS[each]]
    if not any(stamp(each).startswith(made_with() + "\n") for each in LOCKS):
        run([sys.executable, "-m", "venv", "--clear", VENV], lock)
    for each in LOCKS:
        with contextlib.suppress(FileNotFoundError):
            os.remove(stamp_path(each))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for name in LOCKS[purpose]:
        if name not in done:
            run([*pip, "--require-hashes", "-r", os.path.join(RUNNER, name)], lock)
    if not done:  # else programs may already use it
        run([*pip, "--no-deps", "--no-build-isolation", "--editable", RUNNER], lock, stderr=subprocess.PIPE)
        # Python may not be allowed to write its byte code later, and starting from source takes twice as long.
        run([python, "-m", "compileall", "-q", os.path.join(RUNNER, "jdkmatrix")], lock)
    for each, locks in LOCKS.items():
        if set(locks) <= set(LOCKS[purpose]):
            with open(stamp_path(each), "w") as file:
                file.write(fingerprint(each))


def run(command, lock, **streams):
    """Run it in a session of its own, so that Ctrl-C reaches this process alone, which then ends all of it. If this
    process is killed, what it started holds the lock until it ends. Piped output is shown when it fails."""
    process = subprocess.Popen(command, start_new_session=True, pass_fds=[lock], **streams)
    try:
        _, said = process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=said)


def stop(signal_number, _):
    raise SystemExit(128 + signal_number)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup ignores it
            signal.signal(number, stop)
    try:
        main(sys.argv[1])
    except subprocess.CalledProcessError as failure:
        said = ":\n" + failure.stderr.decode("utf-8", "replace").strip() if failure.stderr else ""
        sys.exit("set-up failed: " + " ".join(failure.cmd[:6]) + " … ended with " + str(failure.returncode) + said)
    except OSError as error:
        sys.exit("set-up failed: {}: {}".format(error.filename or ROOT, error.strerror))
