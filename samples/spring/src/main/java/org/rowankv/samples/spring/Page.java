package org.rowankv.samples.spring;

import java.io.Serializable;

/** A version of a page with its text. Immutable. */
public record Page(int version, String text) implements Serializable {}
