package org.rowankv.samples.demo;

/**
 * Measurements of a start, as the started process prints them.
 *
 * @param managerNs from the first line of {@code main} to the manager
 * @param putNs from the first line of {@code main} to the answer of the first put
 * @param residentKib resident memory of the process then, −1 if unknown
 * @param directBytes direct memory then
 */
record StartFigures(long managerNs, long putNs, long residentKib, long directBytes) {
    static final String PREFIX = "started ";

    String toWords() {
        return managerNs + " " + putNs + " " + residentKib + " " + directBytes;
    }

    static StartFigures ofWords(String words) {
        final String[] numbers = words.split(" ");
        return new StartFigures(
                Long.parseLong(numbers[0]),
                Long.parseLong(numbers[1]),
                Long.parseLong(numbers[2]),
                Long.parseLong(numbers[3]));
    }
}
