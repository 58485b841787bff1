package jdkmatrix.common.jvm;

import java.lang.management.ManagementFactory;
import javax.management.AttributeNotFoundException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/** Reads MBeans whose classes cannot be seen from here or that not every JDK has. */
public final class Jmx {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();
    private static final ObjectName HOTSPOT = name("com.sun.management:type=HotSpotDiagnostic");

    private Jmx() {}

    public static ObjectName name(String name) {
        try {
            return new ObjectName(name);
        } catch (MalformedObjectNameException impossible) {
            throw new IllegalArgumentException(name, impossible);
        }
    }

    /** As {@link #whole}, for values that cannot exceed an int. */
    public static Integer integer(ObjectName bean, String attribute) {
        Long value = whole(bean, attribute);
        return value == null ? null : Integer.valueOf(Math.toIntExact(value));
    }

    /** Returns the attribute as a whole number; null if there is no such bean or attribute, or it has no value. */
    public static Long whole(ObjectName bean, String attribute) {
        try {
            return switch (SERVER.getAttribute(bean, attribute)) {
                case null -> null;
                case Number number -> number.longValue();
                default -> throw new IllegalStateException(bean + " " + attribute + " is not a number");
            };
        } catch (InstanceNotFoundException | AttributeNotFoundException absent) {
            return null;
        } catch (JMException problem) {
            throw new IllegalStateException(bean + " " + attribute, problem);
        }
    }

    /** Returns the value of a JVM option such as {@code ThreadStackSize}; null if the JVM does not say. */
    public static String vmOption(String option) {
        try {
            Object answer = SERVER.invoke(
                    HOTSPOT, "getVMOption", new Object[] {option}, new String[] {String.class.getName()});
            return answer instanceof CompositeData data ? String.valueOf(data.get("value")) : null;
        } catch (JMException | JMRuntimeException absent) {
            return null;
        }
    }
}
