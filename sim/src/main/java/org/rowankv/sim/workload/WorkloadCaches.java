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
 * The clients' caches, which may be destroyed and created again, with their invariants: an id is never reused, and a
 * destroyed cache refuses requests for good. The simulations begin changes, one at a time.
 */
public final class WorkloadCaches {
    private final WorkloadPlan plan;
    private final WorkloadHost host;
    private final HistoryRecorder history;
    private final List<CacheLife> lives = new ArrayList<>();
    private final @Nullable CacheLife[] newest;
    private final Set<Integer> given = new HashSet<>();
    /** A change is in progress, on this thread or a nested one. */
    private boolean isChanging;

    private @Nullable CacheLife destroying;

    WorkloadCaches(WorkloadPlan plan, WorkloadHost host, HistoryRecorder history) {
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

    /** The first cache: it is never destroyed. Its keys have the first histories. */
    public CacheLife first() {
        return newest(0);
    }

    /** Whether a cache is destroyed now and then: all but the first, whose changes are subscribed to. */
    public boolean isDestroyable(int cache) {
        return cache > 0;
    }

    /** All lives so far, in the order of their creation. */
    public List<CacheLife> lives() {
        return lives;
    }

    /** The current life of a cache, or null if it was destroyed and not created again. */
    public @Nullable CacheLife live(int cache) {
        final CacheLife last = newest[cache];
        return last == null || last.isDestroyed() ? null : last;
    }

    /** The newest life of a cache: clients use it, though it may be over. */
    CacheLife newest(int cache) {
        final CacheLife last = newest[cache];
        if (last == null) {
            throw new AssertionError("no cache was created");
        }
        return last;
    }

    /** A former life of any cache, or null. */
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

    /** Whether a cache is being created or destroyed: operations that need a stable catalogue must not begin. */
    public boolean isChanging() {
        return isChanging;
    }

    /** The cache that is being destroyed, or null. */
    public @Nullable CacheLife destroying() {
        return destroying;
    }

    /** Destroys a live cache. After an error the outcome is open: {@link #open} and {@link #settle} determine it. */
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

    /** Creates a missing cache, and sets its limit. After an error the outcome is open. */
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

    /** Creates all caches in a new store; in an existing store, determines the outcome of unfinished changes. */
    public void open(Catalogue catalogue) {
        if (lives.isEmpty()) {
            createMissing(catalogue);
        } else {
            reconcile(catalogue);
        }
    }

    public void createMissing(Catalogue catalogue) {
        for (int cache = 0; cache < newest.length; cache++) {
            if (live(cache) == null) {
                create(cache, catalogue);
            }
        }
    }

    /** Completes unfinished changes, and creates destroyed caches again. Precondition: no change is in progress. */
    public void settle(Catalogue catalogue) {
        finishDestroying(catalogue);
        reconcile(catalogue);
        createMissing(catalogue);
    }

    /** Completes a destruction that an error has interrupted. */
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

    /**
     * Sets the limit once: from then on the store keeps it. A failed attempt may have been stored without reaching all
     * servers.
     */
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

    /** A reply says that its cache is destroyed. */
    void refused(CacheLife life, int shard, long returnedNs) {
        if (!life.isDestroyBegun()) {
            host.violation(life + " was refused, and was not destroyed");
        }
        life.refused(shard, returnedNs);
    }

    /** Any other reply of a server to a request that began at that time. */
    void accepted(CacheLife life, int shard, long invokedNs, String what) {
        if (life.mustRefuse(shard, invokedNs)) {
            host.violation(what + " was accepted in shard " + shard + " by " + life + ", which was destroyed before");
        }
    }
}
