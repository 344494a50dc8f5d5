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
 * What lives in this JVM at one moment: bytes of the heap by class, after a full collection, and of direct buffers. The
 * memory of mappings is not in it.
 */
final class HeapContent {
    private static final String DIAGNOSTICS = "com.sun.management:type=DiagnosticCommand";
    private static final int BYTES_COLUMN = 2;
    private static final int CLASS_COLUMN = 3;

    private final Map<String, Long> bytesByClass = new TreeMap<>();
    private final long directBytes;

    private HeapContent(String histogram, long directBytes) {
        this.directBytes = directBytes;
        // "   1:     123456     78901234  [J (java.base@17.0.15)"; head, ruler and total look otherwise.
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

    /** Looks now; collects all garbage first. */
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

    /** Of arrays of numbers, not of references. */
    long primitiveArrayBytes() {
        return bytesByClass.entrySet().stream()
                .filter(each -> each.getKey().length() == 2 && each.getKey().charAt(0) == '[')
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    long directBytes() {
        return directBytes;
    }

    /** The classes that take most more than they did before, the largest first, and how many bytes more. */
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
