package org.rowankv.samples.hibernate;

/** Part of a key. */
public enum Season {
    SPRING,
    AUTUMN
}
