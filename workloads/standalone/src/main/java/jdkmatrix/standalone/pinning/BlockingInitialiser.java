package jdkmatrix.standalone.pinning;

/** The template of {@link ClassInit}; never initialised as itself. */
final class BlockingInitialiser {
    static {
        ClassInit.initialise();
    }

    private BlockingInitialiser() {}
}
