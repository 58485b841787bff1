"""The line of a server's log that says why it does not serve."""

from __future__ import annotations

import pytest

from jdkmatrix.servers.process import cause

AT = "[11/26/26, 0:54:15:427 UTC] 00000023 "
NO_JVM = "Error: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred.\n"
READY = f"{AT}FeatureManager A CWWKF0011I: The matrix server is ready to run a smarter planet.\n"


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", None),
        (READY, None),
        (f"{AT}SystemErr R java.lang.OutOfMemoryError: Java heap space\n{READY}",
         "java.lang.OutOfMemoryError: Java heap space"),
        (f"{AT}x E CWWKO0221E: TCP/IP port in use\n{AT}R java.lang.OutOfMemoryError: Metaspace",
         "java.lang.OutOfMemoryError: Metaspace"),
        ("Error occurred during initialization of VM\nToo small maximum heap\n", "Too small maximum heap"),
        (f"Unrecognized VM option 'UseFoo'\n{NO_JVM}", "Unrecognized VM option 'UseFoo'"),
        (f"Unrecognized option: -Xfoo\n{NO_JVM}", "Unrecognized option: -Xfoo"),
        (f"JVMJ9VM007E Command-line option unrecognised: -Xfoo\n{NO_JVM}",
         "JVMJ9VM007E Command-line option unrecognised: -Xfoo"),
        ("Error: LinkageError occurred while loading main class B\n\tjava.lang.UnsupportedClassVersionError: B has\n",
         "java.lang.UnsupportedClassVersionError: B has"),
        (f"{READY}{AT}kernel E CWWKE0702E: Could not resolve module", "CWWKE0702E: Could not resolve module"),
        ('JVMDUMP039I Processing dump event "systhrow", detail "java/lang/OutOfMemoryError"',
         'JVMDUMP039I Processing dump event "systhrow", detail "java/lang/OutOfMemoryError"'),
        ("java.lang.OutOfMemoryError: unable to create native thread\n",
         "java.lang.OutOfMemoryError: unable to create native thread"),
        (f"Picked up JAVA_TOOL_OPTIONS: -XX:+ExitOnOutOfMemoryError\n{READY}", None),
        (f"java.lang.OutOfMemoryError: {'x' * 1000}", f"java.lang.OutOfMemoryError: {'x' * 172}"),
    ],
)  # fmt: skip
def test_the_line_that_says_why(log: str, said: str | None) -> None:
    assert cause(log) == said
