package org.rowankv.rdma;

import java.util.List;

/**
 * What a fence did.
 *
 * @param servers whose queue pairs it cut off, each once
 * @param fencedPairs queue pairs that were alive before
 * @param voidedAddresses region addresses of the publication words it turned to void; whoever owns the region flushes
 *     them, or a power cut brings the hole back
 * @param namingPairs fenced pairs, of this fence or an earlier one, that still name a segment: it stays in quarantine
 */
public record FenceReport(List<Integer> servers, int fencedPairs, List<Long> voidedAddresses, int namingPairs) {
    public FenceReport {
        servers = List.copyOf(servers);
        voidedAddresses = List.copyOf(voidedAddresses);
    }
}
