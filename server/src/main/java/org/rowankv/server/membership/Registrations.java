package org.rowankv.server.membership;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;
import org.rowankv.rdma.secret.ClusterSecret;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signs and verifies registrations in the configuration store: a last line {@code mac=…} over the name of the cluster,
 * the path of the node and the other lines. Without a secret there is no MAC, and none is required. It does not
 * distinguish an old registration of the same server from its newest.
 *
 * <p>Thread-safe.
 */
public final class Registrations {
    private static final Logger LOG = LoggerFactory.getLogger(Registrations.class);
    private static final String LINE = "mac=";
    private static final int LINE_LENGTH = LINE.length() + 2 * ClusterSecret.MAC_LENGTH + 1;

    private final String cluster;
    private final @Nullable ClusterSecret secret;
    /** By path: the node version last reported in the log. Guarded by this. */
    private final Map<String, Long> reported = new HashMap<>();

    public Registrations(String cluster, @Nullable ClusterSecret secret) {
        this.cluster = cluster;
        this.secret = secret;
    }

    /** The bytes to store. */
    public byte[] signed(String path, byte[] lines) {
        final ClusterSecret own = secret;
        if (own == null) {
            return lines;
        }
        final String text = new String(lines, StandardCharsets.UTF_8);
        return (text + LINE + HexFormat.of().formatHex(mac(own, path, lines)) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Whether the stored bytes are signed by this cluster; if not, logs the node once per version. */
    boolean isGenuine(String path, byte[] stored, long version) {
        final ClusterSecret own = secret;
        if (own == null || hasMac(own, path, stored)) {
            return true;
        }
        synchronized (this) {
            final Long before = reported.put(path, version);
            if (before == null || before != version) {
                LOG.warn(
                        "ROWAN-2009 Registration without this cluster's MAC ignored: node={}; its server has another"
                                + " secret or none, or another writer has written it",
                        path);
            }
        }
        return false;
    }

    private boolean hasMac(ClusterSecret own, String path, byte[] stored) {
        final int end = stored.length - LINE_LENGTH;
        if (end <= 0) {
            return false;
        }
        final String line = new String(stored, end, LINE_LENGTH, StandardCharsets.UTF_8);
        if (!line.startsWith(LINE) || !line.endsWith("\n")) {
            return false;
        }
        try {
            final byte[] mac = HexFormat.of().parseHex(line.strip().substring(LINE.length()));
            return ClusterSecret.isSame(mac(own, path, java.util.Arrays.copyOf(stored, end)), mac);
        } catch (IllegalArgumentException e) {
            LOG.debug("the last line of {} is no MAC", path, e);
            return false;
        }
    }

    private byte[] mac(ClusterSecret own, String path, byte[] lines) {
        final Mac mac = own.begin(ClusterSecret.Purpose.REGISTRATION);
        mac.update((cluster + "\n" + path + "\n").getBytes(StandardCharsets.UTF_8));
        return mac.doFinal(lines);
    }
}
