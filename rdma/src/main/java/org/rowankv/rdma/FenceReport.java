package org.rowankv.rdma;

import java.util.List;

/**
 * Result of a fence.
 *
 * @param servers of the fenced queue pairs, each once
 * @param fencedPairs queue pairs that were alive before
 * @param voidedAddresses region addresses of the voided publication words; the owner of the region must flush them, or
 *     a power cut restores the hole
 * @param namingPairs fenced pairs, of this fence or an earlier one, that still name a segment: it stays in quarantine
 */
public record FenceReport(List<Integer> servers, int fencedPairs, List<Long> voidedAddresses, int namingPairs) {
    public FenceReport {
        servers = List.copyOf(servers);
        voidedAddresses = List.copyOf(voidedAddresses);
    }
}
