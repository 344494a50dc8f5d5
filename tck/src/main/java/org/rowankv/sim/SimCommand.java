package org.rowankv.sim;

public final class SimCommand {
    private SimCommand() {}

    public static void main(String[] args) throws InterruptedException {
        System.setProperty("rowan.chaos", "true");
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "off");
        final long from = Long.parseLong(args[0]);
        final int count = Integer.parseInt(args[1]);
        SimThread.installPoints();
        final SimThread thread = new SimThread(
                () -> {
                    final SimMemories memories = new SimMemories();
                    final Happenings all = new Happenings();
                    final long start = System.nanoTime();
                    for (long seed = from; seed < from + count; seed++) {
                        final SimReport report = new Simulation(
                                        SimPlan.of(seed), memories, args.length > 2 ? System.out::println : null)
                                .run();
                        all.addAll(report.happenings());
                        if (report.violation() != null) {
                            System.out.println("seed " + seed + ": " + report.violation());
                        }
                    }
                    System.out.println(all.all().toString().replace(", ", "\n"));
                    System.out.println((System.nanoTime() - start) / 1e9 / count + " s per seed");
                },
                "sim");
        thread.start();
        thread.join();
    }
}
