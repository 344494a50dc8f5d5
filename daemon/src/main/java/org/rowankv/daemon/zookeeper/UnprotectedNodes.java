package org.rowankv.daemon.zookeeper;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports nodes that every client may change although this process has a credential: they were created before it had
 * one. Checks each node and its parents once. Used by the thread of one store's calls.
 */
final class UnprotectedNodes {
    private static final Logger LOG = LoggerFactory.getLogger(UnprotectedNodes.class);
    private static final int CHANGES = ZooDefs.Perms.ALL & ~ZooDefs.Perms.READ;

    private final CuratorFramework curator;
    private final String namespace;
    private final String where;
    private final Set<String> seen = new HashSet<>();
    private final List<String> open = new ArrayList<>();

    UnprotectedNodes(CuratorFramework curator, String where) {
        this.namespace = "/" + curator.getNamespace();
        this.curator = curator;
        this.where = where;
    }

    /** Checks an existing node, named as in its store, and its parents. */
    void check(String path) throws Exception {
        final String full = namespace + path;
        for (int end = full.indexOf('/', 1); end > 0; end = full.indexOf('/', end + 1)) {
            checkNode(full.substring(0, end));
        }
        checkNode(full);
    }

    /** The reported nodes. */
    List<String> open() {
        return open;
    }

    private void checkNode(String full) throws Exception {
        if (seen.contains(full)) {
            return;
        }
        final List<ACL> rules = curator.usingNamespace(null).getACL().forPath(full);
        seen.add(full);
        for (ACL rule : rules) {
            if (rule.getId().equals(ZooDefs.Ids.ANYONE_ID_UNSAFE) && (rule.getPerms() & CHANGES) != 0) {
                open.add(full);
                LOG.warn(
                        "ROWAN-4005 Unprotected node: any client may change {} in {}, created without a credential."
                                + " Protect it with \"setAcl -R {} auth::cdrwa\" in ZooKeeper's zkCli, after addauth",
                        full,
                        where,
                        namespace);
                return;
            }
        }
    }
}
