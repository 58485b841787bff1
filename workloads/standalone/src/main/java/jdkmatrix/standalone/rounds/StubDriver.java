package jdkmatrix.standalone.rounds;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.util.Properties;
import java.util.logging.Logger;

/** A driver whose connections lead nowhere and answer at once, so that only the pool in front of it takes time. */
final class StubDriver implements Driver {
    static final String URL = "jdbc:jdkmatrix:nowhere";

    @Override
    public Connection connect(String url, Properties properties) {
        if (!acceptsURL(url)) {
            return null;
        }
        ClassLoader here = StubDriver.class.getClassLoader();
        return (Connection) Proxy.newProxyInstance(here, new Class<?>[] {Connection.class}, StubDriver::answer);
    }

    private static Object answer(Object connection, Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "isValid", "getAutoCommit" -> true;
            case "hashCode" -> System.identityHashCode(connection);
            case "equals" -> connection == arguments[0];
            case "toString" -> URL;
            default -> nothing(method.getReturnType());
        };
    }

    @Override
    public boolean acceptsURL(String url) {
        return URL.equals(url);
    }

    @Override
    public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
        return new DriverPropertyInfo[0];
    }

    @Override
    public int getMajorVersion() {
        return 1;
    }

    @Override
    public int getMinorVersion() {
        return 0;
    }

    @Override
    public boolean jdbcCompliant() {
        return false;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    private static Object nothing(Class<?> type) {
        if (type == boolean.class) {
            return false;
        }
        return type == int.class ? (Object) 0 : null;
    }
}
