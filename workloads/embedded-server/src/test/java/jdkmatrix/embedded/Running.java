package jdkmatrix.embedded;

import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** The program of the module that runs these tests, in a process of its own. */
final class Running implements AutoCloseable {
    /** True if the server can be given an executor. */
    private static final boolean TAKES_EXECUTORS = !"false".equals(System.getProperty("takes.executors"));
    /** True if this module tests all plugged executors, for every server: each takes them as the same interface. */
    private static final boolean EVERY_PLUGGED = Boolean.getBoolean("every.plugged.executor");
    /** A thread per request, and a pool: what every server is tested with. */
    private static final Set<String> PLUGGED = Set.of("virtual", "fixed-3");
    /** True if its own pool can have another size. */
    private static final boolean OWN_SIZED = Boolean.getBoolean("own.sized");
    /** True if its own threads are virtual. */
    static final boolean OWN_VIRTUAL = Boolean.getBoolean("own.virtual");
    /** The name prefix of its own virtual threads, if it has a number of them beside its pool. */
    private static final String OWN_VIRTUAL_THREADS = System.getProperty("own.virtual.threads");

    /**
     * The most requests that its own pool runs at once: a total, or a number per CPU, with at least two CPUs; 1,000
     * means no limit here.
     */
    static final int OWN_AT_ONCE = Integer.getInteger(
            "own.at.once",
            Integer.getInteger("own.threads.per.cpu", 1_000) * Math.max(2, Runtime.getRuntime().availableProcessors()));

    private static final int WAIT_S = 600;

    private final Process process;
    private final String application;
    private JsonObject ready;

    /** True if the server has this executor, and its module tests it. */
    static boolean has(String executor) {
        if (executor.startsWith("own-virtual-")) {
            return OWN_VIRTUAL_THREADS != null;
        }
        if (isOwn(executor)) {
            return executor.equals("own") || OWN_SIZED;
        }
        return TAKES_EXECUTORS && (EVERY_PLUGGED || PLUGGED.contains(executor));
    }

    /** True if the server brings this executor along. */
    static boolean isOwn(String executor) {
        return executor.startsWith("own");
    }

    /** Starts the server, which is ready when this returns. */
    Running(String application, String executor, String... jvmOptions) throws IOException {
        this.application = application;
        process = start(List.of(jvmOptions), "--port", "0", "--application", application, "--executor", executor);
        try (JsonReader line = Json.createReader(new StringReader(
                String.valueOf(process.inputReader(StandardCharsets.UTF_8).readLine())))) {
            ready = line.readObject();
        }
    }

    static Process start(List<String> jvmOptions, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // It runs for seconds only.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(jvmOptions);
        if (OWN_VIRTUAL_THREADS != null) {
            command.add("-Djdkmatrix.own.virtual=own=" + OWN_VIRTUAL_THREADS);
        }
        command.addAll(List.of(
                "-Djdkmatrix.own." + (OWN_VIRTUAL ? "virtual" : "platform") + "=own=" + System.getProperty("own.threads"),
                "-Xmx256m",
                "-cp",
                System.getProperty("program.jar", System.getProperty("java.class.path")),
                System.getProperty("program.main")));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).start();
    }

    /** Waits for the end of the process and returns its exit status. */
    static int endOf(Process process) throws InterruptedException {
        if (!process.waitFor(WAIT_S, TimeUnit.SECONDS)) {
            throw new AssertionError("it has not ended within " + WAIT_S + " s");
        }
        return process.exitValue();
    }

    static String saidWrong(Process process) throws IOException {
        return new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    JsonObject ready() {
        return ready;
    }

    int port() {
        return ready.getInt("port");
    }

    Client connect() throws IOException {
        return new Client(port());
    }

    JsonObject gauges() throws IOException {
        try (Client client = connect()) {
            return client.get("/" + application + "/gauges").json();
        }
    }

    /** Sends a SIGTERM. */
    Process terminate() {
        // Through its handle, which leaves the streams open.
        process.toHandle().destroy();
        return process;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
