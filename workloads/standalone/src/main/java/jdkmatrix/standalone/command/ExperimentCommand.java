package jdkmatrix.standalone.command;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import jdkmatrix.common.command.Program;
import jdkmatrix.standalone.result.Findings;
import jdkmatrix.standalone.result.Outcome;
import jdkmatrix.standalone.result.Result;
import jdkmatrix.standalone.result.ResultWriter;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The steps that all experiments share: check the options, run, print one line of JSON.
 *
 * @param <A> a record of all parameters
 */
public abstract class ExperimentCommand<A> implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    /** @throws IllegalArgumentException saying which option is wrong, what was found and what is allowed */
    protected abstract A asked();

    /** @param say receives each line of progress */
    protected abstract Findings run(A asked, Consumer<String> say) throws Exception;

    @Override
    public final Integer call() throws Exception {
        A asked = Program.checked(spec, this::asked);
        CommandLine line = spec.commandLine();
        Instant started = Instant.now();
        Findings findings;
        try {
            findings = run(asked, text -> {
                line.getErr().println(spec.name() + ": " + text);
                line.getErr().flush();
            });
        } catch (OutOfMemoryError error) {
            findings = Findings.none(Outcome.of(error, null), null);
        }
        PrintWriter out = line.getOut();
        out.println(ResultWriter.write(Result.of(spec.name(), started, asked, findings)));
        out.flush();
        return CommandLine.ExitCode.OK;
    }
}
