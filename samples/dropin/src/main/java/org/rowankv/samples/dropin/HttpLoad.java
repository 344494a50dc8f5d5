package org.rowankv.samples.dropin;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Requests of several clients to the Spring sample until it is closed. Each client changes what no other one changes, and
 * knows what each response has to be. Thread-safe.
 */
final class HttpLoad implements AutoCloseable {
    private static final int CLIENTS = 8;
    private static final int KEYS = 20;
    private static final int PAUSE_MS = 5;
    private static final int SERVER_ERROR = 500;
    private static final int NOT_FOUND = 404;
    private static final long REQUEST_LIMIT_S = 300;
    private static final AtomicInteger LOADS = new AtomicInteger();

    private final String address;
    private final int changesPercent;
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<Thread> clients = new ArrayList<>();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger serverErrors = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final AtomicInteger stale = new AtomicInteger();
    private final AtomicLong longestNs = new AtomicLong();
    private volatile boolean closed;

    /** @param changesPercent part of the requests that change something */
    HttpLoad(String address, int changesPercent) {
        this.address = address;
        this.changesPercent = changesPercent;
        final int load = LOADS.incrementAndGet();
        for (int i = 0; i < CLIENTS; i++) {
            final Client client = new Client("load" + load + '-' + i, i);
            clients.add(new Thread(client::work, "client-" + i));
        }
        clients.forEach(Thread::start);
    }

    /** One of them. Confined to its thread. */
    private final class Client {
        private final String name;
        private final Random random;
        private final Map<String, Integer> versions = new HashMap<>();
        private int notes;

        Client(String name, int seed) {
            this.name = name;
            this.random = new Random(seed);
        }

        void work() {
            final String book = "/authors/" + name + "/books/" + name;
            boolean hasBook = changesPercent == 0;
            while (!closed) {
                try {
                    if (!hasBook) {
                        hasBook = send("POST", book).statusCode() < SERVER_ERROR;
                        versions.put("/books/" + name + "/price", 0);
                    } else if (changesPercent > 0 && random.nextInt(4) == 0) {
                        useBook("/books/" + name + "/price");
                    } else {
                        useNote("/notes/" + name + '-' + notes + '-' + random.nextInt(KEYS));
                    }
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MS));
                } catch (IOException e) {
                    failures.incrementAndGet();
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        private void useNote(String path) throws IOException, InterruptedException {
            if (random.nextInt(100) < changesPercent) {
                change(path, path, versions.getOrDefault(path, 0) + 1);
            } else {
                read(path);
                read("/notes/" + name + '/' + random.nextInt(KEYS)); // a key of two parts, and no result
            }
        }

        private void useBook(String path) throws IOException, InterruptedException {
            if (random.nextInt(100) < changesPercent) {
                final int next = versions.getOrDefault(path, 0) + 1;
                change(path + '/' + next, path, next);
            } else {
                read(path);
            }
        }

        private void change(String path, String changed, int next) throws IOException, InterruptedException {
            if (send("POST", path).statusCode() < SERVER_ERROR) {
                changes.incrementAndGet();
                versions.put(changed, next);
            } else {
                notes++; // the outcome is unknown: other notes from now on
            }
        }

        private void read(String path) throws IOException, InterruptedException {
            final HttpResponse<String> response = send("GET", path);
            if (response.statusCode() < SERVER_ERROR) {
                final int found = response.statusCode() == NOT_FOUND ? 0 : Integer.parseInt(response.body());
                if (found < versions.getOrDefault(path, 0)) {
                    stale.incrementAndGet();
                    System.err.println(path + " is " + found + ", not " + versions.get(path));
                }
            }
        }
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        requests.incrementAndGet();
        final long beginNs = System.nanoTime();
        final HttpResponse<String> response = http.send(
                HttpRequest.newBuilder(URI.create(address + path))
                        .method(method, HttpRequest.BodyPublishers.ofString(""))
                        .timeout(Duration.ofSeconds(REQUEST_LIMIT_S))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        longestNs.accumulateAndGet(System.nanoTime() - beginNs, Math::max);
        if (response.statusCode() >= SERVER_ERROR) {
            serverErrors.incrementAndGet();
        }
        return response;
    }

    /** Requests so far. */
    int requests() {
        return requests.get();
    }

    /** Changes that succeeded so far. */
    int changes() {
        return changes.get();
    }

    /** Whether no request failed, and no response was older than a change before it. */
    boolean isWell() {
        return serverErrors.get() + failures.get() + stale.get() == 0;
    }

    /** Ends it, after the requests under way. */
    @Override
    public void close() {
        closed = true;
        for (Thread client : clients) {
            try {
                client.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return "requests=" + requests + " changes=" + changes + " http_5xx=" + serverErrors + " failed=" + failures
                + " stale=" + stale + " longest_ms=" + TimeUnit.NANOSECONDS.toMillis(longestNs.get());
    }
}
