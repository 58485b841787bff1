package jdkmatrix.standalone.fanout;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import jdkmatrix.standalone.process.OpenFiles;
import jdkmatrix.standalone.process.ProcStatus;

/** The most open files and threads of this process, as far as sampling shows. */
final class OpenFilesPeak {
    private final AtomicInteger files = new AtomicInteger();
    private final AtomicInteger threads = new AtomicInteger();
    private volatile boolean refused;

    /** Takes a sample. At the limit, there is no open file left to look with. */
    void look() {
        try {
            files.accumulateAndGet(OpenFiles.count(), Math::max);
            threads.accumulateAndGet(ProcStatus.threadsNow(), Math::max);
        } catch (IOException atTheLimit) {
            refused = true;
        }
    }

    int files() {
        return files.get();
    }

    int threads() {
        return threads.get();
    }

    boolean wasRefused() {
        return refused;
    }
}
