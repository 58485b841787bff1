package jdkmatrix.common.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class JmxTest {
    private static final ObjectName THREADS = Jmx.name("java.lang:type=Threading");

    @Test
    void whatTheJvmDoesNotHaveIsNull() {
        assertNull(Jmx.vmOption("NoSuchOptionAtAll"));
        assertNull(Jmx.whole(Jmx.name("jdkmatrix:type=Nothing"), "Any"));
        assertNull(Jmx.integer(THREADS, "NoSuchAttribute"));
    }

    @Test
    void whatItHasIsANumber() {
        assertTrue(Jmx.integer(THREADS, "ThreadCount") >= 1);
        assertThrows(IllegalStateException.class, () -> Jmx.whole(THREADS, "ObjectName"));
    }

    @Test
    void whatAnIntCannotHoldIsNotCut() {
        ObjectName runtime = Jmx.name("java.lang:type=Runtime");
        assertTrue(Jmx.whole(runtime, "StartTime") > Integer.MAX_VALUE);
        assertEquals(
                "integer overflow",
                assertThrows(ArithmeticException.class, () -> Jmx.integer(runtime, "StartTime")).getMessage());
    }
}
