package org.rowankv.check.chaos;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Outages of all faults, by kind of fault and role of the shard: as a table, and as CSV with a line per fault and shard. */
public final class OutageTable {
    private static final int MEDIAN = 50;
    private static final int TAIL = 99;
    private static final int HUNDRED = 100;
    private static final double NS_PER_MS = 1e6;

    private final List<FaultOutcome> outcomes;

    OutageTable(List<FaultOutcome> outcomes) {
        this.outcomes = List.copyOf(outcomes);
    }

    /** Nearest rank; the list is not empty. */
    public static long percentile(List<Long> values, int percent) {
        final List<Long> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        final int rank = (sorted.size() * percent + HUNDRED - 1) / HUNDRED;
        return sorted.get(Math.max(1, rank) - 1);
    }

    List<String> lines() {
        final List<String> lines = new ArrayList<>();
        lines.add(String.format(
                "%-24s %5s  %-20s  %-20s  %-20s  %s",
                "ms without an operation",
                "",
                " primary was hit",
                "  backup was hit",
                "     unaffected",
                "whole after"));
        final String three = String.format("%6s %6s %6s", "p50", "p99", "max");
        lines.add(
                String.format("%-24s %5s  %s  %s  %s  %6s %6s s", "fault", "count", three, three, three, "p50", "max"));
        for (ChaosFault kind : ChaosFault.values()) {
            final List<FaultOutcome> those = outcomes.stream()
                    .filter(outcome -> outcome.round().kind() == kind)
                    .toList();
            if (!those.isEmpty()) {
                lines.add(line(kind, those));
            }
        }
        return lines;
    }

    private static String line(ChaosFault kind, List<FaultOutcome> those) {
        final List<Long> whole = those.stream().map(FaultOutcome::wholeNs).toList();
        return String.format(
                Locale.ROOT,
                "%-24s %5d  %s  %s  %s  %6.1f %6.1f",
                kind.optionName(),
                those.size(),
                three(those, FaultOutcome.Role.AFFECTED),
                three(those, FaultOutcome.Role.BACKUP),
                three(those, FaultOutcome.Role.UNAFFECTED),
                percentile(whole, MEDIAN) / 1e9,
                Collections.max(whole) / 1e9);
    }

    private static String three(List<FaultOutcome> those, FaultOutcome.Role role) {
        final List<Long> gaps = new ArrayList<>();
        for (FaultOutcome outcome : those) {
            for (int shard = 0; shard < outcome.roles().size(); shard++) {
                if (outcome.roles().get(shard) == role) {
                    gaps.add(outcome.gapsNs().get(shard));
                }
            }
        }
        return gaps.isEmpty()
                ? String.format("%6s %6s %6s", "-", "-", "-")
                : String.format(
                        Locale.ROOT,
                        "%6.0f %6.0f %6.0f",
                        percentile(gaps, MEDIAN) / NS_PER_MS,
                        percentile(gaps, TAIL) / NS_PER_MS,
                        Collections.max(gaps) / NS_PER_MS);
    }

    /** Writes a line per fault and shard. */
    void writeCsv(Path file) throws IOException {
        final List<String> lines = new ArrayList<>();
        lines.add("number,fault,text,shard,role,outage_ms,reads_outage_ms,whole_after_ms,lack");
        for (int number = 0; number < outcomes.size(); number++) {
            final FaultOutcome outcome = outcomes.get(number);
            for (int shard = 0; shard < outcome.roles().size(); shard++) {
                lines.add(String.format(
                        Locale.ROOT,
                        "%d,%s,\"%s\",%d,%s,%.1f,%.1f,%.0f,\"%s\"",
                        number + 1,
                        outcome.round().kind().optionName(),
                        outcome.text(),
                        shard,
                        outcome.roles().get(shard).name().toLowerCase(Locale.ROOT),
                        outcome.gapsNs().get(shard) / NS_PER_MS,
                        outcome.readGapsNs().get(shard) / NS_PER_MS,
                        outcome.wholeNs() / NS_PER_MS,
                        outcome.lack().replace('"', '\'').replace('\n', ' ')));
            }
        }
        Files.write(file, lines, StandardCharsets.UTF_8);
    }
}
