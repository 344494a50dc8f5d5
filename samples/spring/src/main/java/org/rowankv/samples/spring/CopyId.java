package org.rowankv.samples.spring;

import jakarta.persistence.Embeddable;
import java.io.Serializable;

/** A key of two columns. Immutable. */
@Embeddable
public record CopyId(String isbn, int number) implements Serializable {}
