package org.rowankv.sim.service;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.CallerLog;
import org.rowankv.check.history.Event;
import org.rowankv.driver.api.ChangeListener;
import org.rowankv.driver.api.StreamPosition;
import org.rowankv.driver.net.ChangesRequest;
import org.rowankv.driver.stream.ChangeCursor;
import org.rowankv.protocol.Change;
import org.rowankv.protocol.Request;
import org.rowankv.protocol.Status;
import org.rowankv.protocol.Version;
import org.rowankv.protocol.frame.WireException;
import org.rowankv.protocol.wire.ChangesDescriptor;
import org.rowankv.protocol.wire.ChangesDescriptor.Section;
import org.rowankv.protocol.wire.ChangesRequestDescriptor;
import org.rowankv.protocol.wire.FrameEncoder;
import org.rowankv.runtime.RandomSource;
import org.rowankv.server.frontend.PendingChangesRequest;
import org.rowankv.server.frontend.PendingChangesRequest.Source;
import org.rowankv.server.shard.ShardChanges;
import org.rowankv.topology.Configuration;

/**
 * A subscriber of a cache's changes, with the driver's cursors and requests and the server's replies. Steps of the
 * simulation replace sockets and threads: a request waits until changes are signalled, a reply is delivered or lost, a
 * connection ends with its server.
 */
public final class Subscriber implements Service {
    private static final long WAIT_MS = 2_000;
    /** Longer than servers take to detect a silently broken connection, and to replicate by another one. */
    private static final long REST_NS = 30_000_000_000L;

    private static final int RESUME_ONE_IN = 64;
    private static final int LOSS_ONE_IN = 40;
    /** May include an old value. */
    private static final int WITH_EACH = 4 << 10;
    /** Bytes of changes that a shard always keeps: half of the minimum, because some writes are never acknowledged. */
    private static final int KEPT_BYTES = 32 << 10;

    private static final long PATIENCE_NS = 50_000_000;

    private final Scene scene;
    private final StreamServers servers;
    private final RandomSource random;
    private final StreamChecker checker;
    private final boolean oldValues;
    private final int paceNs;
    private final List<Asking> askings = new ArrayList<>();
    private final List<ChangeCursor> cursors = new ArrayList<>();
    private final FrameEncoder out = new FrameEncoder(4 << 10);
    /** By shard: the last assigned version, as of {@link #knownAtNs}. */
    private long[] known = new long[0];

    private long[] knownAtNs = new long[0];
    /** By shard: the source of the last accepted reply. */
    private @Nullable Source[] last = new @Nullable Source[0];
    /** By shard: its stream there. */
    private @Nullable ShardChanges[] streams = new @Nullable ShardChanges[0];
    /** By shard: lower bound of the bytes written since then. */
    private long[] written = new long[0];

    private long[] renewedAtNs = new long[0];
    /** It does not wait for its start position, and then receives a loss. */
    private final boolean late;

    private long number;
    private boolean resting;
    /** The end of the last pause. */
    private long restedAtNs;

    /**
     * Begins with the first step.
     *
     * @param log receives the received changes, or null
     * @param hidden whether objects may end without a change event
     * @param stepNs length of a step of the simulation
     */
    public Subscriber(
            Scene scene,
            StreamServers servers,
            RandomSource random,
            @Nullable CallerLog log,
            boolean hidden,
            long stepNs) {
        this.scene = scene;
        this.servers = servers;
        this.random = random;
        this.checker = new StreamChecker(scene, servers, log, hidden);
        this.oldValues = random.nextInt(2) == 0;
        this.late = random.nextInt(4) == 0;
        // Some poll often, some sleep while much is written.
        this.paceNs = (int) Math.min(1 << 30, stepNs << 2 + random.nextInt(12));
    }

    // --- callbacks of the simulation ---

    @Override
    public void arrived(Request request) {
        checker.arrived(request);
    }

    @Override
    public void answered(Request request) {
        checker.answered(request);
        if (request.operation().isMutation() && request.shard() < written.length) {
            written[request.shard()] += request.keyLength() + request.valueLength() + WITH_EACH;
        }
    }

    /** Polls until there is nothing left to receive. */
    @Override
    public void rest() {
        resting = true;
        final long sinceNs = scene.nowNs();
        while (!isComplete()) {
            if (scene.nowNs() - sinceNs > REST_NS) {
                scene.violation("a change stream does not reach its end during a pause: " + state());
            }
            askings.forEach(this::step);
            scene.changed(this);
            scene.park(1_000);
        }
        resting = false;
        restedAtNs = scene.nowNs();
        scene.count("nanoseconds until streams were complete", scene.nowNs() - sinceNs);
        for (ChangeCursor cursor : cursors) {
            if (cursor.isOver()) {
                scene.violation("a change stream was refused in shard " + cursor.shard() + ": " + state());
            }
        }
        checker.rest();
    }

    @Override
    public void read(int key, Event read) {
        checker.read(key, shardOf(key), read);
    }

    private int shardOf(int key) {
        return servers.shardOf(key);
    }

    @Override
    public void afterReads() {
        checker.afterReads();
    }

    private String state() {
        final StringBuilder text = new StringBuilder();
        for (ChangeCursor cursor : cursors) {
            final Source source =
                    servers.source(servers.configuration().shard(cursor.shard()).primary());
            text.append(cursor.shard())
                    .append(" is at ")
                    .append(StreamPosition.of(cursor.position()))
                    .append(source == null ? ", not served; " : "; ");
        }
        return text.toString();
    }

    private boolean isComplete() {
        if (cursors.isEmpty()) {
            return false;
        }
        final Configuration configuration = servers.configuration();
        for (ChangeCursor cursor : cursors) {
            final Source source =
                    servers.source(configuration.shard(cursor.shard()).primary());
            if (source == null || !isReceived(cursor, source, configuration)) {
                return false;
            }
        }
        return true;
    }

    private boolean isReceived(ChangeCursor cursor, Source source, Configuration configuration) {
        if (cursor.isOver()) {
            return true;
        }
        final Status why = source.whyNotServed(cursor.shard(), configuration.term());
        if (why == Status.CLOSED) {
            servers.requireServing(cursor.shard());
        }
        return why == Status.OK && cursor.position() >= source.served().lastVersion(cursor.shard());
    }

    // --- its steps ---

    @Override
    public long readyAtNs() {
        long earliest = cursors.isEmpty() ? 0 : NEVER;
        for (Asking each : askings) {
            earliest = Math.min(earliest, readyAtNs(each));
        }
        return earliest;
    }

    private static long readyAtNs(Asking each) {
        return each.signalled && each.asked != null && each.answer == null ? 0 : each.nextAtNs;
    }

    @Override
    public void step() {
        if (cursors.isEmpty()) {
            begin();
        }
        final long nowNs = scene.nowNs();
        for (Asking each : askings) {
            if (readyAtNs(each) <= nowNs) {
                step(each);
                return;
            }
        }
    }

    private void begin() {
        final int shards = servers.configuration().shardCount();
        known = new long[shards];
        knownAtNs = new long[shards];
        last = new @Nullable Source[shards];
        streams = new @Nullable ShardChanges[shards];
        written = new long[shards];
        renewedAtNs = new long[shards];
        for (int server = 0; server < servers.configuration().serverCount(); server++) {
            askings.add(new Asking(server, () -> scene.changed(this)));
        }
        for (int shard = 0; shard < shards; shard++) {
            final ChangeCursor cursor = cursor(shard, StreamPosition.NOTHING_YET);
            if (late) {
                cursor.beginLate();
            }
            cursors.add(cursor);
        }
        scene.count("change streams subscribed", 1);
    }

    private ChangeCursor cursor(int shard, long position) {
        return new ChangeCursor(servers.cacheId(), shard, oldValues, position, new Listener(), () -> {});
    }

    /** Another client resumes where this one has stopped. */
    private void resume() {
        if (askings.stream().anyMatch(each -> each.asked != null || each.answer != null)
                || cursors.stream().anyMatch(cursor -> cursor.position() == StreamPosition.NOTHING_YET)) {
            return;
        }
        scene.count("change streams resumed at a position", 1);
        cursors.replaceAll(cursor -> {
            cursor.close();
            return cursor(cursor.shard(), cursor.position());
        });
    }

    private void step(Asking each) {
        final Source now = servers.source(each.server);
        if (each.answer != null) {
            take(each);
        } else if (now == null || each.source != null && each.source != now) {
            if (each.asked != null) {
                scene.count("change streams cut off", 1);
            }
            each.watched.clear();
            each.end(scene.nowNs() + random.nextInt((int) PATIENCE_NS));
            servers.lookElsewhere();
        } else if (each.asked == null) {
            ask(each, now);
        } else {
            look(each, now);
        }
    }

    private void ask(Asking each, Source source) {
        final Configuration configuration = servers.configuration();
        if (!resting && random.nextInt(RESUME_ONE_IN) == 0) {
            resume();
        }
        final List<ChangeCursor> own = new ArrayList<>();
        final List<ChangeCursor> fresh = new ArrayList<>();
        for (ChangeCursor cursor : cursors) {
            if (!cursor.isOver() && configuration.shard(cursor.shard()).primary() == each.server) {
                own.add(cursor);
                if (!cursor.isBegun() && cursor.position() == StreamPosition.NOTHING_YET && !late) {
                    fresh.add(cursor);
                }
            }
        }
        if (own.isEmpty()) {
            each.end(scene.nowNs() + paceNs);
            return;
        }
        each.fromNow = !fresh.isEmpty();
        final ChangesRequest question = each.fromNow
                ? ChangesRequest.fromNow(configuration.term(), fresh)
                : new ChangesRequest(configuration.term(), resting ? 0 : (int) WAIT_MS, own);
        question.write(out, ++number);
        final ByteBuffer frame = sent();
        try {
            ChangesRequestDescriptor.check(frame, 0, frame.capacity());
        } catch (WireException e) {
            scene.violation("a request for changes is malformed: " + e);
        }
        final PendingChangesRequest asked = new PendingChangesRequest(number, frame, 0, scene.nowNs());
        each.question = question;
        each.asked = asked;
        each.source = source;
        each.signalled = true;
        each.askedAtNs = scene.nowNs();
        each.untilNs = each.askedAtNs + WAIT_MS * 1_000_000;
        final List<ChangeCursor> followed = each.fromNow ? fresh : own;
        each.began.clear();
        for (int i = 0; i < asked.count(); i++) {
            final ShardChanges changes = asked.begin(source, i);
            if (changes == null) {
                continue;
            }
            if (each.watched.add(changes)) {
                changes.watch(each.watcher);
            }
            final int shard = followed.get(i).shard();
            known[shard] = source.served().lastVersion(shard);
            each.began.put(shard, known[shard]);
            knownAtNs[shard] = scene.nowNs();
        }
    }

    /** The server checks whether it has a reply. */
    private void look(Asking each, Source source) {
        final PendingChangesRequest asked = Objects.requireNonNull(each.asked);
        final boolean over = resting || asked.isOver(scene.nowNs());
        final boolean silent = !each.signalled && !asked.isUnfinished();
        each.signalled = false;
        final List<Section> sections = asked.sections(source, over);
        if (!over && sections.isEmpty()) {
            each.nextAtNs = asked.isUnfinished() ? scene.nowNs() + 1 : each.untilNs;
            return;
        }
        if (silent
                && sections.stream().anyMatch(section -> !section.changes().isEmpty())
                && watchesAll(each, asked, source)) {
            scene.violation(
                    "server " + each.server + " has changes to send, and has not signalled the waiting request");
        }
        ChangesDescriptor.write(out, asked.number(), sections);
        each.asked = null;
        final ByteBuffer frame = sent();
        if (!resting && random.nextInt(LOSS_ONE_IN) == 0) {
            scene.count("answers with changes lost", 1);
            each.end(scene.nowNs() + random.nextInt((int) PATIENCE_NS));
            return;
        }
        each.answer = frame;
        each.answers = source;
        each.nextAtNs = resting ? 0 : scene.nowNs() + random.nextInt(paceNs);
    }

    /** Not so if a shard was not open, or has left the server and come back: its port would have answered in between. */
    private static boolean watchesAll(Asking each, PendingChangesRequest asked, Source source) {
        return each.began.size() == asked.count()
                && each.began.keySet().stream()
                        .allMatch(shard -> each.watched.contains(source.served().changes(shard)));
    }

    /** The bytes written to the connection. */
    private ByteBuffer sent() {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (WritableByteChannel channel = Channels.newChannel(bytes)) {
            while (!out.writeTo(channel)) {
                // It accepts everything.
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return ByteBuffer.wrap(bytes.toByteArray()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** A reply arrives. */
    private void take(Asking each) {
        final ByteBuffer frame = Objects.requireNonNull(each.answer);
        final ChangesRequest question = Objects.requireNonNull(each.question);
        try {
            question.read(frame, 0, frame.capacity());
        } catch (WireException e) {
            scene.violation("a reply with changes is malformed: " + e);
        }
        boolean well = true;
        for (Section section : question.sections()) {
            well &= take(each, question.cursor(section), section);
        }
        each.end(scene.nowNs() + random.nextInt(paceNs));
        if (!well) {
            each.nextAtNs += random.nextInt((int) PATIENCE_NS);
            servers.lookElsewhere();
        }
    }

    private boolean take(Asking each, ChangeCursor cursor, Section section) {
        final int shard = cursor.shard();
        if (section.status() == Status.OK
                && cursor.position() == StreamPosition.NOTHING_YET
                && !late
                && each.began.containsKey(shard)) {
            checker.begins(shard, Objects.requireNonNull(each.began.get(shard)));
        }
        if (section.lostTo() != 0
                && last[shard] == each.answers
                && streams[shard] == streamOf(each, shard)
                && cursor.position() == section.from()) {
            requireDue(shard, section.lostTo());
        }
        final boolean continues = cursor.position() == section.from();
        final boolean well;
        if (each.fromNow) {
            cursor.begin(section);
            well = section.status() == Status.OK;
        } else {
            well = cursor.take(section);
        }
        if (well && continues) {
            if (last[shard] != null && last[shard] != each.answers && section.lostTo() == 0) {
                scene.count("change streams that went on behind a start", 1);
            }
            last[shard] = each.answers;
            streams[shard] = streamOf(each, shard);
            written[shard] = 0;
            renewedAtNs[shard] = each.askedAtNs;
        }
        return well;
    }

    private static @Nullable ShardChanges streamOf(Asking each, int shard) {
        final Source answers = each.answers;
        return answers == null ? null : answers.served().changes(shard);
    }

    /** The same server, which has kept the shard since: it had too much to keep, or the request came too late. */
    private void requireDue(int shard, long lostTo) {
        if (written[shard] < KEPT_BYTES && scene.nowNs() - renewedAtNs[shard] < ShardChanges.LEASE_NS / 2) {
            scene.violation("the loss of changes of shard " + shard + " up to " + Version.toString(lostTo)
                    + " was announced without need: " + written[shard] + " bytes were written since the last answer");
        }
    }

    private final class Listener implements ChangeListener {
        @Override
        public void onChange(int shard, Change change) {
            checker.received(shard, change, change.version() > known[shard] ? knownAtNs[shard] : restedAtNs);
        }

        @Override
        public void onEventsLost(int shard, long after, long upTo) {
            checker.lost(shard, after, upTo);
        }
    }

    @Override
    public String toString() {
        return "subscriber";
    }
}
