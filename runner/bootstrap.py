"""Make the tool's own environment, `.venv`: check the host first, then install what the lock files say.

Run by `make` with the host's Python and nothing but the standard library. Does nothing when the environment is
already what the lock files say. Kept in the syntax of Python 3.6, so that an old Python gets the message about its
version and not a SyntaxError.
"""

import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
RUNNER = os.path.join(ROOT, "runner")
LOCKS = {"run": ["requirements.txt"], "test": ["requirements.txt", "requirements-dev.txt"]}


def main(purpose):
    problems = host_problems(purpose)
    if problems:
        sys.exit("\n".join("needed: " + problem for problem in problems))
    wanted = fingerprint(purpose)
    if stamp(purpose) != wanted:
        install(purpose)
        with open(stamp_path(purpose), "w") as file:
            file.write(wanted)


def host_problems(purpose):
    """What this host lacks, one line each, in seconds and before anything is downloaded."""
    if not sys.platform.startswith("linux"):
        return ["Linux; this is " + sys.platform]
    if sys.version_info < (3, 11):
        found = ".".join(map(str, sys.version_info[:2]))
        return ["Python 3.11 or newer; found " + found + " (install one, then: make PYTHON=python3.12)"]
    problems = []
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        problems.append("Python's venv module (Debian and Ubuntu: apt-get install python3-venv)")
    sys.path.insert(0, RUNNER)
    from jdkmatrix.provision.hosttools import problems as tool_problems

    problems += tool_problems()
    if purpose == "test":
        problems += test_problems()
    return problems


TEST_PROGRAMS = {
    "chromium": "for the tests of the report",
    "cargo": "for the linters of Nix files",
    "git": "for the tests of the flake",
    "unzip": "for the tests of the flake",
}


def test_problems():
    """What the tests need besides; as root on Debian it is installed here."""
    missing = [program for program in TEST_PROGRAMS if not shutil.which(program)]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.call(["apt-get", "update", "-qq"])
        install_missing = ["apt-get", "install", "-y", "-qq", "--no-install-recommends"] + missing
        subprocess.call(install_missing, stdout=subprocess.DEVNULL)
    return [
        program + " on PATH, " + why + " (Debian and Ubuntu: apt-get install " + program + ")"
        for program, why in TEST_PROGRAMS.items()
        if not shutil.which(program)
    ]


def fingerprint(purpose):
    """Changes when a lock file, the package's metadata or the interpreter does."""
    digest = hashlib.sha256(sys.version.encode() + ROOT.encode())
    for name in LOCKS[purpose] + ["pyproject.toml"]:
        with open(os.path.join(RUNNER, name), "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def stamp_path(purpose):
    return os.path.join(VENV, ".ready-" + purpose)


def stamp(purpose):
    try:
        with open(stamp_path(purpose)) as file:
            return file.read()
    except OSError:
        return None


def install(purpose):
    print("setting up .venv (" + ", ".join(LOCKS[purpose]) + ")", flush=True)
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        subprocess.check_call([sys.executable, "-m", "venv", VENV])
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for lock in LOCKS[purpose]:
        subprocess.check_call([*pip, "--require-hashes", "-r", os.path.join(RUNNER, lock)])
    subprocess.check_call([*pip, "--no-deps", "--no-build-isolation", "--editable", RUNNER], stderr=subprocess.DEVNULL)
    # Python is not always allowed to write its byte code later, and a start from source takes twice as long.
    subprocess.check_call([python, "-m", "compileall", "-q", os.path.join(RUNNER, "jdkmatrix")])


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except subprocess.CalledProcessError as failure:
        sys.exit("set-up failed: " + " ".join(failure.cmd[:6]) + " … ended with " + str(failure.returncode))
