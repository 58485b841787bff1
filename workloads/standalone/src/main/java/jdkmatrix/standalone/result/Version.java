package jdkmatrix.standalone.result;

import picocli.CommandLine.IVersionProvider;

/** Which program this is, and what runs it. */
public final class Version implements IVersionProvider {
    /** As the jar's manifest says; "development" where the classes were started without the jar. */
    static String text() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"standalone " + text(), "java " + Runtime.version()};
    }
}
