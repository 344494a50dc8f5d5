package org.rowankv.sim.workload;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rowankv.check.history.HistoryRecorder;
import org.rowankv.driver.api.Catalogue;
import org.rowankv.protocol.CacheLimit;

/**
 * The clients' caches, each of which may be destroyed and created again, and what must be true of that: an id is given once, and
 * what is destroyed is refused for good. Changes are begun by the simulations, one at a time.
 */
public final class Caches {
    private final WorkloadPlan plan;
    private final WorkloadHost host;
    private final HistoryRecorder history;
    private final List<CacheLife> lives = new ArrayList<>();
    private final @Nullable CacheLife[] newest;
    private final Set<Integer> given = new HashSet<>();
    /** A change is under way, on this thread or below it. */
    private boolean isChanging;

    private @Nullable CacheLife destroying;

    Caches(WorkloadPlan plan, WorkloadHost host, HistoryRecorder history) {
        this.plan = plan;
        this.host = host;
        this.history = history;
        this.newest = new @Nullable CacheLife[plan.caches().size()];
    }

    public int count() {
        return newest.length;
    }

    public String nameOf(int cache) {
        return WorkloadPlan.nameOf(cache);
    }

    public CacheLimit limitOf(int cache) {
        return plan.caches().get(cache);
    }

    /** The first cache: it is never destroyed. Its keys' histories are the first ones. */
    public CacheLife first() {
        return newest(0);
    }

    /** Whether a cache is destroyed now and then: all but the first, whose changes others follow. */
    public boolean isDestroyable(int cache) {
        return cache > 0;
    }

    /** All that there were, in the order of their creation. */
    public List<CacheLife> lives() {
        return lives;
    }

    /** The cache as it is, or null if it was destroyed and not created again. */
    public @Nullable CacheLife live(int cache) {
        final CacheLife last = newest[cache];
        return last == null || last.isDestroyed() ? null : last;
    }

    /** The newest life of a cache: what clients ask, though it may be over. */
    CacheLife newest(int cache) {
        final CacheLife last = newest[cache];
        if (last == null) {
            throw new AssertionError("no cache was created");
        }
        return last;
    }

    /** A life that is over, of any cache, or null. */
    @Nullable
    CacheLife former(int drawn) {
        int over = 0;
        for (int i = 0; i < lives.size(); i++) {
            over += lives.get(i).isDestroyed() ? 1 : 0;
        }
        int left = over == 0 ? -1 : drawn % over;
        for (int i = 0; i < lives.size() && left >= 0; i++) {
            if (lives.get(i).isDestroyed() && left-- == 0) {
                return lives.get(i);
            }
        }
        return null;
    }

    public int shardOf(int key) {
        return newest(plan.cacheOf(key)).shardOf(key / newest.length);
    }

    // --- changes ---

    /** Whether a cache is being created or destroyed: what needs the catalogue undisturbed must not begin. */
    public boolean isChanging() {
        return isChanging;
    }

    /** The cache that is being destroyed, or null. */
    public @Nullable CacheLife destroying() {
        return destroying;
    }

    /** Destroys a cache that lives. Errors leave open what became of it: {@link #open} finds out, and {@link #settle}. */
    public void destroy(CacheLife life, Catalogue catalogue) {
        final boolean isFirst = !life.isDestroyBegun();
        life.destroyBegins(host.nowNs());
        isChanging = true;
        destroying = life;
        try {
            if (!catalogue.destroy(life.name()) && isFirst) {
                host.violation(life + " was not there when it was destroyed");
            }
        } finally {
            isChanging = false;
            destroying = null;
        }
        destroyed(life);
    }

    /** Creates a cache that does not live, and gives it its limit. Errors leave open what became of it. */
    public void create(int cache, Catalogue catalogue) {
        isChanging = true;
        try {
            final Catalogue.CacheRecord record = catalogue.create(nameOf(cache), new byte[0]);
            host.count("caches created");
            limit(created(cache, record.id()), record.limit(), catalogue);
        } finally {
            isChanging = false;
        }
    }

    /** Creates all of them, in a new store; in one that was found, finds out what became of changes that came to no end. */
    public void open(Catalogue catalogue) {
        if (lives.isEmpty()) {
            createMissing(catalogue);
        } else {
            reconcile(catalogue);
        }
    }

    /** What was destroyed is created again. */
    public void createMissing(Catalogue catalogue) {
        for (int cache = 0; cache < newest.length; cache++) {
            if (live(cache) == null) {
                create(cache, catalogue);
            }
        }
    }

    /** Brings changes that came to no end to theirs, and creates again what was destroyed: no change is under way any more. */
    public void settle(Catalogue catalogue) {
        finishDestroying(catalogue);
        reconcile(catalogue);
        createMissing(catalogue);
    }

    /** What an error left half destroyed is destroyed. */
    public void finishDestroying(Catalogue catalogue) {
        for (int cache = 0; cache < newest.length; cache++) {
            final CacheLife life = live(cache);
            if (life != null && life.isDestroyBegun()) {
                destroy(life, catalogue);
            }
        }
    }

    private void reconcile(Catalogue catalogue) {
        for (int cache = 0; cache < newest.length; cache++) {
            final CacheLife life = live(cache);
            final Catalogue.CacheRecord found = catalogue.find(nameOf(cache));
            if (life == null) {
                if (found != null) {
                    limit(created(cache, found.id()), found.limit(), catalogue);
                }
            } else if (found == null) {
                if (!life.isDestroyBegun()) {
                    host.violation(life + " is gone");
                }
                host.count("caches destroyed by what came to no end");
                destroyed(life);
            } else {
                if (found.id() != life.id()) {
                    host.violation(life + " now has id " + found.id());
                }
                if (life.isRefusedAnywhere()) {
                    host.violation(life + " is there, and was refused as destroyed");
                }
                limit(life, found.limit(), catalogue);
            }
        }
    }

    private CacheLife created(int cache, int id) {
        if (!given.add(id)) {
            host.violation("id " + id + " was given twice, now to cache '" + nameOf(cache) + "'");
        }
        final int[] shards = new int[plan.keysOf(cache)];
        for (int number = 0; number < shards.length; number++) {
            shards[number] = host.shardOf(id, CacheLife.keyBytes(number));
        }
        final CacheLife life = new CacheLife(cache, id, limitOf(cache), history.addKeys(shards.length), shards);
        lives.add(life);
        newest[cache] = life;
        host.tell(life + " is there");
        return life;
    }

    private void destroyed(CacheLife life) {
        life.destroyed(host.nowNs());
        host.count("caches destroyed");
        host.tell(life + " is destroyed");
    }

    /** Once: from then on the store remembers it. What failed before may have been stored, and not told to all servers. */
    private void limit(CacheLife life, CacheLimit found, Catalogue catalogue) {
        if (life.isLimitSet() && !found.equals(life.limit())) {
            host.violation(life + " has " + found + " instead of " + life.limit());
        }
        if (!life.isLimitSet() && !life.limit().isNone() && !catalogue.limit(life.name(), life.limit())) {
            host.violation(life + " was not there when it got its limit");
        }
        life.limitIsSet();
    }

    // --- answers ---

    /** An answer that its cache is destroyed. */
    void refused(CacheLife life, int shard, long returnedNs) {
        if (!life.isDestroyBegun()) {
            host.violation(life + " was refused, and was not destroyed");
        }
        life.refused(shard, returnedNs);
    }

    /** Any other answer of a server to what began at that time. */
    void accepted(CacheLife life, int shard, long invokedNs, String what) {
        if (life.mustRefuse(shard, invokedNs)) {
            host.violation(what + " was accepted in shard " + shard + " by " + life + ", which was destroyed before");
        }
    }
}
