/** Plots as SVG text: panels of lines or bars, axes and a legend. The same data give the same bytes. */
@NullMarked
package org.rowankv.bench.paper.plot;

import org.jspecify.annotations.NullMarked;
