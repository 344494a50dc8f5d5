package org.rowankv.bench.paper.plot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

final class SvgPlotTest {
    private static final Series ONE = new Series("one", List.of(1.0, 2.0, 4.0), List.of(10.0, 30.0, 20.0));
    private static final Series TWO = new Series("two <&>", List.of(1.0, 2.0, 4.0), List.of(0.0, 5.0, 49.0));

    private static Document parsed(Panel... panels) throws Exception {
        final String text = SvgPlot.of("a & b", "commit <1>", List.of(panels));
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static int count(Document document, String tag) {
        return document.getElementsByTagName(tag).getLength();
    }

    @Test
    void shouldDrawALineForEachSeries() throws Exception {
        final Document document = parsed(Panel.lines("t", "x", "y", List.of(ONE, TWO)));

        assertThat(count(document, "path")).isEqualTo(1 + 2);
        final Element line = (Element) document.getElementsByTagName("path").item(1);
        assertThat(line.getAttribute("d")).startsWith("M").contains("L");
    }

    @Test
    void shouldDrawABarForEachValue() throws Exception {
        final Document document = parsed(Panel.bars("t", "y", List.of("a", "b", "c"), List.of(ONE, TWO)));

        assertThat(count(document, "rect")).isEqualTo(1 + 6);
    }

    @Test
    void shouldStayInsideThePicture() throws Exception {
        final Document document = parsed(
                Panel.lines("t", "x", "y", List.of(ONE, TWO)),
                Panel.bars("t", "y", List.of("a", "b", "c"), List.of(TWO)),
                Panel.lines("nothing", "x", "y", List.of()),
                Panel.lines("zero", "x", "y", List.of(new Series("zero", List.of(0.0), List.of(0.0)))));
        final String[] box =
                document.getDocumentElement().getAttribute("viewBox").split(" ");
        for (int i = 0; i < count(document, "rect"); i++) {
            final Element rect = (Element) document.getElementsByTagName("rect").item(i);
            if (!rect.getAttribute("x").isEmpty()) {
                assertThat(Double.parseDouble(rect.getAttribute("x"))).isBetween(0.0, Double.parseDouble(box[2]));
                assertThat(Double.parseDouble(rect.getAttribute("y"))).isBetween(0.0, Double.parseDouble(box[3]));
                assertThat(Double.parseDouble(rect.getAttribute("height"))).isBetween(0.0, 270.0);
            }
        }
    }

    @Test
    void shouldBeWideEnoughForItsTitle() {
        final List<Panel> panels = List.of(Panel.lines("t", "x", "y", List.of(ONE)));

        assertThat(width(SvgPlot.of("t".repeat(60), "", panels))).isGreaterThan(width(SvgPlot.of("t", "", panels)));
    }

    private static int width(String svg) {
        final String box = "viewBox=\"0 0 ";
        final int from = svg.indexOf(box) + box.length();
        return Integer.parseInt(svg.substring(from, svg.indexOf(' ', from)));
    }

    @Test
    void shouldRefuseSeriesOfUnequalLength() {
        assertThatThrownBy(() -> new Series("s", List.of(1.0), List.of())).isInstanceOf(IllegalArgumentException.class);
    }
}
