package org.rowankv.samples.spring;

import java.io.Serializable;

/** A key of two texts, which may be one and the same object. Immutable. */
public record Signature(String group, String name) implements Serializable {}
