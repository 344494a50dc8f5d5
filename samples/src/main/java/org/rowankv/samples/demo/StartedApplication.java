package org.rowankv.samples.demo;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.cache.Cache;
import javax.cache.CacheManager;
import javax.cache.Caching;
import javax.cache.configuration.MutableConfiguration;

/** A process that only opens the default cache manager, and prints the measurements. */
final class StartedApplication {
    private StartedApplication() {}

    public static void main(String[] args) throws IOException {
        final long startNs = System.nanoTime();
        final CacheManager manager = Caching.getCachingProvider().getCacheManager();
        final long managerNs = System.nanoTime() - startNs;
        final Cache<String, byte[]> cache = manager.createCache(
                "started", new MutableConfiguration<String, byte[]>().setTypes(String.class, byte[].class));
        cache.put("key", new byte[100]);
        final long putNs = System.nanoTime() - startNs;
        final StartFigures figures = new StartFigures(managerNs, putNs, residentKib(), directBytes());
        Caching.getCachingProvider().close();
        System.out.println(StartFigures.PREFIX + figures.toWords());
    }

    /** −1 where the system does not report it. */
    private static long residentKib() throws IOException {
        final Path status = Path.of("/proc/self/status");
        if (Files.isReadable(status)) {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", ""));
                }
            }
        }
        return -1;
    }

    private static long directBytes() {
        long bytes = 0;
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                bytes += pool.getTotalCapacity();
            }
        }
        return bytes;
    }
}
