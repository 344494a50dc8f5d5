package org.rowankv.check.disturb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A process stopped by SIGSTOP; close sends SIGCONT. A shell sends both, and waits in between for the end of its input:
 * so the process continues even if this JVM is killed. Signals from a terminal do not end that shell.
 */
public final class StoppedProcess implements AutoCloseable {
    private static final String STOPPED = "stopped";
    private static final String SCRIPT =
            "trap '' INT TERM HUP; kill -STOP \"$1\" && echo " + STOPPED + "; read -r line; kill -CONT \"$1\"";
    private static final int TIMEOUT_SECONDS = 20;

    private final Process shell;
    private final long pid;
    /** This process stops the cluster at its exit; a stopped process would not react to that. */
    private final Thread atExit;

    private StoppedProcess(Process shell, long pid) {
        this.shell = shell;
        this.pid = pid;
        this.atExit = new Thread(this::goOn, "stopped-process-goes-on");
    }

    /** @throws IOException if it cannot be stopped; the message says why */
    public static StoppedProcess stop(ProcessHandle process) throws IOException {
        final Process shell = new ProcessBuilder("sh", "-c", SCRIPT, "sh", Long.toString(process.pid()))
                .redirectErrorStream(true)
                .start();
        final StoppedProcess stopped = new StoppedProcess(shell, process.pid());
        Runtime.getRuntime().addShutdownHook(stopped.atExit);
        final String line =
                new BufferedReader(new InputStreamReader(shell.getInputStream(), StandardCharsets.UTF_8)).readLine();
        if (!STOPPED.equals(line)) {
            stopped.goOn();
            stopped.forget();
            throw new IOException("process " + process.pid() + " cannot be stopped: " + line);
        }
        return stopped;
    }

    private void goOn() {
        try {
            shell.getOutputStream().close();
        } catch (IOException e) {
            throw new IllegalStateException("process " + pid + " cannot be continued", e);
        }
    }

    private void forget() {
        try {
            final boolean removed = Runtime.getRuntime().removeShutdownHook(atExit);
            assert removed;
        } catch (IllegalStateException e) {
            // This process is exiting: the hook has run, or runs.
            assert e.getMessage() != null;
        }
    }

    /** The process runs again when this returns. */
    @Override
    public void close() throws IOException {
        goOn();
        forget();
        try {
            if (!shell.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS) || shell.exitValue() != 0) {
                throw new IOException("process " + pid + " was stopped, and could not be continued");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while process " + pid + " was continued");
        }
    }
}
