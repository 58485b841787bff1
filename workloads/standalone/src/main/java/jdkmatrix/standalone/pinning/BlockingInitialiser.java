package jdkmatrix.standalone.pinning;

/** The template of {@link ClassInit}, which is itself never initialised. */
final class BlockingInitialiser {
    static {
        ClassInit.initialise();
    }

    private BlockingInitialiser() {}
}
