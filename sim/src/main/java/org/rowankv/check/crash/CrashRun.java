package org.rowankv.check.crash;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.rowankv.check.area.AreaContents;
import org.rowankv.check.area.Stored;
import org.rowankv.check.area.ToolDirectory;
import org.rowankv.runtime.RandomSource;
import org.rowankv.runtime.SplittableRandomSource;

/**
 * Runs rounds of the crash check: a child writes, is killed, and its store is checked. In each, a child works on a
 * store and is killed; the areas are compared with the acknowledged operations, server by server, before the store is
 * opened again. The child of the next round compares the reopened store. The first kill of a run comes in the load, when
 * something is acknowledged: a run shows nothing without something to lose, and how long a start takes is measured. The
 * run ends with the first round that finds something, and leaves its files.
 */
public final class CrashRun {
    private static final int LONGEST_LOAD_MS = 900;
    private static final int LONGEST_CLOSE_MICROS = 60_000;
    private static final int MOST_PROBLEMS = 20;

    private final CrashSettings settings;
    private final PrintStream out;
    private final boolean terminal;
    private final RandomSource random;
    private final Removals removals;
    private final Expectations expectations = new Expectations();
    private final List<String> problems = new ArrayList<>();
    private final Map<CrashMoment, Integer> moments = new EnumMap<>(CrashMoment.class);
    private int[] cacheIds = new int[0];
    private int usualStartMicros = 1_000_000;
    private long dropped;
    private long lost;
    private long resurrected;

    /** @param removeEvery rounds between removals of one server's area, where the others suffice; 0: never */
    public CrashRun(CrashSettings settings, int removeEvery, PrintStream out, boolean terminal) {
        this.removals = new Removals(removeEvery);
        this.settings = settings;
        this.out = out;
        this.terminal = terminal;
        this.random = new SplittableRandomSource(settings.seed());
    }

    public CrashReport run() throws IOException, InterruptedException {
        int round = 0;
        while (round < settings.rounds() && problems.isEmpty()) {
            round++;
            final int store = (round - 1) / CrashSettings.ROUNDS_PER_STORE;
            final boolean lastOfStore = round % CrashSettings.ROUNDS_PER_STORE == 0 || round == settings.rounds();
            crash(new CrashRound(round, random.nextLong(), settings.directory(), store, LONGEST_LOAD_MS));
            if (lastOfStore && problems.isEmpty()) {
                look(new CrashRound(settings.rounds() + 1 + store, 0, settings.directory(), store, 0));
                expectations.forgetAll();
                cacheIds = new int[0];
                removals.newStore();
                if (problems.isEmpty()) {
                    ToolDirectory.delete(new CrashRound(round, 0, settings.directory(), store, 0).storeDirectory());
                }
            }
            if (!lastOfStore && problems.isEmpty() && cacheIds.length > 0) {
                removals.afterRound(round, new CrashRound(round, 0, settings.directory(), store, 0).storeDirectory());
            }
            progress(round);
        }
        return new CrashReport(round, expectations.acked(), lost, resurrected, problems);
    }

    private void crash(CrashRound plan) throws IOException, InterruptedException {
        final boolean first = plan.number() == 1;
        final CrashMoment moment = first ? CrashMoment.IN_LOAD : CrashMoment.draw(random);
        moments.merge(moment, 1, Integer::sum);
        final int loadMs = moment == CrashMoment.IN_CLOSE ? 1 + random.nextInt(LONGEST_LOAD_MS) : 60_000;
        final CrashRound round = new CrashRound(plan.number(), plan.seed(), plan.directory(), plan.store(), loadMs);
        Files.deleteIfExists(round.journalFile());
        final Journal journal = CrashRound.openJournal(round.journalFile());
        final ChildProcess child = new ChildProcess(round, settings, journal);
        switch (moment) {
            case IN_START -> child.pauseMicros(random.nextInt(usualStartMicros + usualStartMicros / 4));
            case IN_LOAD -> {
                child.awaitPhase(ChildPhase.OPENED);
                usualStartMicros = child.ageMicros();
                child.awaitPhase(ChildPhase.LOADING);
                if (first) {
                    child.awaitAcked();
                }
                child.pauseMicros(1_000 + random.nextInt(1_000 * LONGEST_LOAD_MS));
            }
            case IN_CLOSE -> {
                child.awaitPhase(ChildPhase.CLOSING);
                child.pauseMicros(random.nextInt(LONGEST_CLOSE_MICROS));
            }
        }
        child.kill();
        if (settings.power() && child.endedWell()) {
            cutPower(round);
        }
        check(round, child, journal);
    }

    /** Each area loses any part of its unforced bytes, independently of the others. */
    private void cutPower(CrashRound round) throws IOException {
        for (int server = 0; server < CrashSettings.SERVERS; server++) {
            final int keptOfEight = random.nextInt(9);
            dropped += Shadow.of(round.areaFile(server)).cutPower(() -> random.nextInt(8) < keptOfEight);
        }
    }

    /** Opens the store once more, checks it, and closes it cleanly: now the replicas must agree entirely. */
    private void look(CrashRound round) throws IOException, InterruptedException {
        Files.deleteIfExists(round.journalFile());
        final Journal journal = CrashRound.openJournal(round.journalFile());
        final ChildProcess child = new ChildProcess(round, settings, journal);
        child.awaitEnd();
        child.kill();
        check(round, child, journal);
    }

    private void check(CrashRound round, ChildProcess child, Journal journal) throws IOException {
        if (!child.endedWell()) {
            problems.add("the child ended by itself with exit code " + child.exitValue() + " in phase "
                    + journal.phase() + ":\n" + child.output());
            return;
        }
        if (Files.exists(round.observedFile())) {
            final ObservedStates observed = ObservedStates.read(round.observedFile());
            observed.contradictions().forEach(text -> problems.add("after reopening: " + text));
            for (int cache = 0; cache < CrashKeys.CACHES; cache++) {
                note(expectations.compare("after reopening", cache, observed.of(cache)));
            }
            expectations.settle(observed);
            cacheIds = observed.cacheIds();
        }
        expectations.learn(journal);
        problems.addAll(expectations.contradictions());
        if (cacheIds.length > 0) {
            compareAreas(round, journal.phase() == ChildPhase.CLOSED);
        }
        if (problems.isEmpty()) {
            Files.deleteIfExists(round.journalFile());
            Files.deleteIfExists(round.observedFile());
            Files.deleteIfExists(round.outputFile());
        }
    }

    private void compareAreas(CrashRound round, boolean closedWell) {
        final List<Integer> complete = removals.complete(round.storeDirectory());
        final List<AreaContents> areas = new ArrayList<>();
        for (int server : complete) {
            areas.add(AreaContents.read(round.storeDirectory(), server));
        }
        for (int cache = 0; cache < CrashKeys.CACHES; cache++) {
            final int id = cacheIds[cache];
            if (settings.replicas() < CrashSettings.SERVERS) {
                note(expectations.compare(
                        "in the areas together",
                        cache,
                        numbered(AreaContents.together(areas).objects(id))));
                continue;
            }
            for (int i = 0; i < areas.size(); i++) {
                final Map<Integer, Stored> objects = numbered(areas.get(i).objects(id));
                note(expectations.compare("in the area of server " + complete.get(i) + " alone", cache, objects));
                if (closedWell && !objects.equals(numbered(areas.get(0).objects(id)))) {
                    problems.add("after a clean close the areas of server " + complete.get(0) + " and server "
                            + complete.get(i) + " do not hold the same objects of cache " + CrashKeys.cacheName(cache));
                }
            }
        }
    }

    private static Map<Integer, Stored> numbered(Map<String, Stored> objects) {
        final Map<Integer, Stored> result = new HashMap<>();
        objects.forEach((key, stored) -> result.put(CrashKeys.numberOf(key), stored));
        return result;
    }

    private void note(List<Expectations.Finding> findings) {
        for (Expectations.Finding finding : findings) {
            switch (finding.fault()) {
                case LOST -> lost++;
                case RESURRECTED, FORGED -> resurrected++;
            }
            if (problems.size() < MOST_PROBLEMS) {
                problems.add(finding.toString());
            }
        }
    }

    private void progress(int round) {
        final boolean last = round == settings.rounds() || !problems.isEmpty();
        if (!terminal && !last && round % 10 != 0) {
            return;
        }
        out.printf(
                Locale.ROOT,
                "%scrash: round %d of %d, killed %d in load, %d in start, %d in close, removed %d areas, %d found joining; acked=%d full=%d%s lost=%d resurrected=%d%s",
                terminal ? "\r" : "",
                round,
                settings.rounds(),
                moments.getOrDefault(CrashMoment.IN_LOAD, 0),
                moments.getOrDefault(CrashMoment.IN_START, 0),
                moments.getOrDefault(CrashMoment.IN_CLOSE, 0),
                removals.removed(),
                removals.seenJoining(),
                expectations.acked(),
                expectations.full(),
                settings.power() ? " words dropped=" + dropped : "",
                lost,
                resurrected,
                terminal && !last ? "" : System.lineSeparator());
        out.flush();
    }
}
