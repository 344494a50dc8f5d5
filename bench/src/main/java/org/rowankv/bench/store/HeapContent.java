package org.rowankv.bench.store;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Snapshot of this JVM's live memory: heap bytes by class, after a full collection, and direct buffers. Mappings are
 * excluded.
 */
final class HeapContent {
    private static final String DIAGNOSTICS = "com.sun.management:type=DiagnosticCommand";
    private static final int BYTES_COLUMN = 2;
    private static final int CLASS_COLUMN = 3;

    private final Map<String, Long> bytesByClass = new TreeMap<>();
    private final long directBytes;

    private HeapContent(String histogram, long directBytes) {
        this.directBytes = directBytes;
        // "   1:     123456     78901234  [J (java.base@17.0.15)"; header, ruler and total do not match.
        for (String line : histogram.split("\n")) {
            final String[] columns = line.trim().split("\\s+");
            if (columns.length > CLASS_COLUMN && columns[0].endsWith(":")) {
                bytesByClass.merge(columns[CLASS_COLUMN], Long.parseLong(columns[BYTES_COLUMN]), Long::sum);
            }
        }
        if (bytesByClass.isEmpty()) {
            throw new IllegalStateException("this JVM's class histogram cannot be read: " + histogram);
        }
    }

    /** Takes a snapshot after a full collection. */
    static HeapContent now() {
        try {
            final Object histogram = ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName(DIAGNOSTICS),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
            long direct = 0;
            for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
                direct += pool.getName().equals("direct") ? pool.getMemoryUsed() : 0;
            }
            return new HeapContent((String) histogram, direct);
        } catch (JMException e) {
            throw new IllegalStateException("this JVM has no class histogram", e);
        }
    }

    long heapBytes() {
        return bytesByClass.values().stream().mapToLong(Long::longValue).sum();
    }

    long primitiveArrayBytes() {
        return bytesByClass.entrySet().stream()
                .filter(each -> each.getKey().length() == 2 && each.getKey().charAt(0) == '[')
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    long directBytes() {
        return directBytes;
    }

    /** The classes that grew most, the largest growth first, with the additional bytes. */
    Map<String, Long> largestGrowth(HeapContent before, int count) {
        final Map<String, Long> growth = new TreeMap<>();
        bytesByClass.forEach((name, bytes) -> growth.put(name, bytes - before.bytesByClass.getOrDefault(name, 0L)));
        final List<Map.Entry<String, Long>> largest = growth.entrySet().stream()
                .sorted(Comparator.comparing((Map.Entry<String, Long> each) -> -each.getValue()))
                .limit(count)
                .toList();
        final Map<String, Long> ordered = new LinkedHashMap<>();
        largest.forEach(each -> ordered.put(each.getKey(), each.getValue()));
        return ordered;
    }
}
