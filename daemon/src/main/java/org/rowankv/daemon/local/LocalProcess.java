package org.rowankv.daemon.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.rowankv.daemon.Launch;
import org.rowankv.daemon.ParentWatch;
import org.rowankv.daemon.options.OptionDefaults;

/** A process of a local cluster: its log, and a file with its pid, by which a later command finds it again. */
public final class LocalProcess {
    private static final int LAST_LINES = 5;
    private static final String ENDS_WITH_PARENT = "-D" + ParentWatch.PROPERTY + "=true";

    private final String name;
    private final Path pidFile;
    private final Path log;
    /** Marks the command line of the process, to distinguish it from a later one with the same pid. */
    private final String mark;
    /**
     * Started by this process: the system may not show its command line before its exec. It also holds this end of the
     * pipe by which the other process detects the end of this one.
     */
    private @Nullable Process started;

    public LocalProcess(Path dir, String name) {
        this.name = name;
        this.pidFile = dir.resolve(name + ".pid");
        this.log = dir.resolve(name + ".log");
        this.mark = "-Drowan.process=" + pidFile.toAbsolutePath();
    }

    public String name() {
        return name;
    }

    public Path log() {
        return log;
    }

    /** Starts it with the class path of this process. */
    public void start(Launch launch, Class<?> main, List<String> arguments) throws IOException {
        final List<String> command = new ArrayList<>();
        command.add(launch.java().toString());
        command.add(mark);
        if (launch.endsWithParent()) {
            command.add(ENDS_WITH_PARENT);
        }
        command.addAll(launch.jvmOptions());
        command.addAll(Launch.processOptions());
        command.add(main.getName());
        command.addAll(arguments);
        start(command, launch.endsWithParent());
    }

    /** Starts it with a {@link #command} with which it ran, and with the class path of this process. It stands alone then. */
    void startAgain(List<String> command) throws IOException {
        final List<String> alone = new ArrayList<>(command);
        alone.remove(ENDS_WITH_PARENT);
        start(alone, false);
    }

    private void start(List<String> command, boolean endsWithParent) throws IOException {
        final ProcessBuilder builder = new ProcessBuilder(command);
        // Not in the command line: the system shows nothing of a long one, and the mark would not be found.
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().remove(OptionDefaults.SECRET_VARIABLE); // of another cluster: this one has its own
        final Process process = builder.redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .redirectInput(
                        endsWithParent
                                ? ProcessBuilder.Redirect.PIPE
                                : ProcessBuilder.Redirect.from(
                                        Path.of("/dev/null").toFile()))
                .start();
        started = process;
        Files.writeString(pidFile, process.pid() + "\n", StandardCharsets.UTF_8);
    }

    /** The command line with which it runs, its program first; empty if the system does not show it. */
    List<String> command() {
        final Optional<ProcessHandle> process = running();
        final Optional<String> program = process.flatMap(each -> each.info().command());
        final Optional<String[]> arguments = process.flatMap(each -> each.info().arguments());
        if (program.isEmpty() || arguments.isEmpty()) {
            return List.of();
        }
        final List<String> command = new ArrayList<>(List.of(program.get()));
        command.addAll(List.of(arguments.get()));
        return command;
    }

    /** The process, if it runs; another program may have started it again. */
    public Optional<ProcessHandle> running() {
        final Process own = started;
        if (own != null && own.isAlive()) {
            return Optional.of(own.toHandle());
        }
        try {
            final String pid = Files.readString(pidFile, StandardCharsets.UTF_8).strip();
            return ProcessHandle.of(Long.parseLong(pid))
                    .filter(ProcessHandle::isAlive)
                    .filter(this::isOurs);
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    private boolean isOurs(ProcessHandle process) {
        final Optional<String[]> arguments = process.info().arguments();
        if (arguments.isEmpty()) {
            // If the system shows no command lines at all, the pid must suffice. Otherwise the process has ended, and
            // no parent has waited for it yet.
            return ProcessHandle.current().info().arguments().isEmpty();
        }
        return List.of(arguments.get()).contains(mark);
    }

    /** Requests its end, waits for it, and kills it after the timeout. Returns whether it ended by itself. */
    public boolean stop(long timeoutMs) throws IOException {
        final Optional<ProcessHandle> process = running();
        final boolean byItself = process.isEmpty() || end(process.get(), timeoutMs);
        Files.deleteIfExists(pidFile);
        return byItself;
    }

    /**
     * As {@link #stop}, for any process. The result of the signal is ignored: it fails also if the process has just
     * ended. Only its end counts.
     */
    boolean end(ProcessHandle process, long timeoutMs) throws IOException {
        process.destroy();
        if (hasEnded(process, timeoutMs)) {
            return true;
        }
        process.destroyForcibly();
        if (!hasEnded(process, timeoutMs)) {
            throw new IOException("process " + process.pid() + " (" + name + ") does not end");
        }
        return false;
    }

    private static boolean hasEnded(ProcessHandle process, long timeoutMs) {
        try {
            process.onExit().get(timeoutMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The end of its log. */
    public String lastLines() {
        try {
            final List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
            return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        } catch (IOException e) {
            return "";
        }
    }
}
