package org.rowankv.samples.spring;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToIntFunction;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.ExitCodeGenerator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;

/** Makes requests of the application itself and prints what their responses were. Used by one thread. */
@Component
@ConditionalOnProperty("library.requests")
public class RequestRun implements ApplicationRunner, ExitCodeGenerator {
    private static final int READERS = 4;

    private final NoteService notes;
    private final BookService books;
    private final int requests;
    private final List<Reader> readers = new ArrayList<>();

    /** @param requests number of requests, which all readers share */
    public RequestRun(NoteService notes, BookService books, @Value("${library.requests}") int requests) {
        this.notes = notes;
        this.books = books;
        this.requests = requests;
    }

    @Override
    public void run(ApplicationArguments arguments) throws InterruptedException {
        for (int i = 0; i < READERS; i++) {
            readers.add(new Reader(i, notes, books));
        }
        final ExecutorService threads = Executors.newFixedThreadPool(READERS);
        final List<Future<?>> runs = new ArrayList<>();
        readers.forEach(reader -> runs.add(threads.submit(() -> reader.make(requests / READERS))));
        try {
            for (Future<?> each : runs) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("a reader has failed", e.getCause());
        } finally {
            threads.shutdownNow();
        }
        System.out.println(this);
    }

    private int sum(ToIntFunction<Reader> of) {
        return readers.stream().mapToInt(of).sum();
    }

    /** Responses that were none of the values that the note or book ever had. */
    public int differences() {
        return sum(Reader::differences);
    }

    /** Responses of a value that had been changed before the request. */
    public int stale() {
        return sum(Reader::stale);
    }

    /** Requests that threw. */
    public int errors() {
        return sum(Reader::errors);
    }

    @Override
    public int getExitCode() {
        return differences() + stale() + errors() == 0 ? 0 : 1;
    }

    @Override
    public String toString() {
        return "dropin: requests=" + sum(Reader::requests) + " differences=" + differences() + " stale=" + stale()
                + " errors=" + errors();
    }
}
