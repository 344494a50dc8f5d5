package org.rowankv.samples.hibernate;

import jakarta.persistence.Embeddable;
import java.io.Serializable;

/** A key of two columns, embedded. Immutable. */
@Embeddable
public record StockId(String warehouse, int shelf) implements Serializable {}
