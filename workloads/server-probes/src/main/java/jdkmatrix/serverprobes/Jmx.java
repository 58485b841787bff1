package jdkmatrix.serverprobes;

import java.lang.management.ManagementFactory;
import javax.management.AttributeNotFoundException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/** Attributes of MBeans whose classes this application cannot see or that not every JDK has. */
final class Jmx {
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private Jmx() {}

    static ObjectName name(String name) {
        try {
            return new ObjectName(name);
        } catch (MalformedObjectNameException impossible) {
            throw new IllegalArgumentException(name, impossible);
        }
    }

    static boolean has(ObjectName bean) {
        return SERVER.isRegistered(bean);
    }

    /** As {@link #whole}, of what cannot grow beyond an int. */
    static Integer integer(ObjectName bean, String attribute) {
        Long value = whole(bean, attribute);
        return value == null ? null : Integer.valueOf(Math.toIntExact(value));
    }

    /** The attribute as a whole number; null where there is no such bean or attribute, or it has no value. */
    static Long whole(ObjectName bean, String attribute) {
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
}
