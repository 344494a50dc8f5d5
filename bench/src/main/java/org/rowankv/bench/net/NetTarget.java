package org.rowankv.bench.net;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.rowankv.bench.micro.EmbeddedBenchmark;
import org.rowankv.driver.RowanClient;
import org.rowankv.driver.net.NetSettings;

/** A server process with client ports, and a client of it. Confined to one thread, except for the client. */
final class NetTarget implements AutoCloseable {
    private final Process process;
    private final RowanClient client;
    private final int cacheId;

    private NetTarget(Process process, RowanClient client) {
        this.process = process;
        this.client = client;
        this.cacheId = client.catalogue().create("bench", new byte[0]).id();
    }

    static NetTarget start(String kind, int servers, long spinNs, int keyCount) throws IOException {
        final Process process = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElse("java"),
                        "-Xmx512m",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "-cp",
                        System.getProperty("java.class.path"),
                        NetServerProcess.class.getName(),
                        kind,
                        "" + servers,
                        "" + spinNs)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        final BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        while (line != null && !line.startsWith(NetServerProcess.READY)) {
            line = output.readLine();
        }
        if (line == null) {
            throw new IOException("the " + kind + " process ended before it was ready");
        }
        final NetTarget target = new NetTarget(
                process,
                RowanClient.connect(
                        List.of(line.substring(NetServerProcess.READY.length()).split(",")),
                        NetSettings.DEFAULT.withSpinNs(spinNs)));
        EmbeddedBenchmark.load(target.client, target.cacheId, keyCount);
        return target;
    }

    RowanClient client() {
        return client;
    }

    int cacheId() {
        return cacheId;
    }

    /** CPU time of the process so far, in steps of 10 ms. */
    Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    @Override
    public void close() throws IOException {
        client.close();
        process.getOutputStream().close();
        process.onExit().join();
    }
}
