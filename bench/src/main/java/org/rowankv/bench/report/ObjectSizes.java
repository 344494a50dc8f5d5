package org.rowankv.bench.report;

/**
 * Sizes of a store's objects, in bytes. Means of whole objects are the paper's (section 2). How they divide into key and
 * value, and their deviations, are of its source [24] (FAST 2020), from memory: inputs that nothing here confirms.
 *
 * @param key mean
 * @param value mean
 * @param deviation of key and value together; 0 means all alike
 */
public record ObjectSizes(String name, double key, double value, double deviation) {
    public static final ObjectSizes ZIPPY_DB = new ObjectSizes("ZippyDB", 47.9, 42.9, 26.4);
    public static final ObjectSizes UP2X = new ObjectSizes("UP2X", 10.45, 46.8, 11.7);
    public static final ObjectSizes UDB = new ObjectSizes("UDB", 27.1, 126.7, 22.3);

    /** Objects of one length. */
    public static ObjectSizes fixed(int length) {
        return new ObjectSizes(length + " B", 0, length, 0);
    }

    public double mean() {
        return key + value;
    }

    /** The same means, with this percentage of the deviation. */
    public ObjectSizes withSpread(int percent) {
        return new ObjectSizes(name, key, value, deviation * percent / 100);
    }
}
