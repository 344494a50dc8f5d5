package org.rowankv.bench.paper.plot;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/** Writes panels side by side, below a title and above a legend. Axes begin at 0. */
public final class SvgPlot {
    private static final int WIDTH = 380;
    private static final int HEIGHT = 270;
    private static final int COLUMNS = 3;
    private static final int LEFT = 54;
    private static final int RIGHT = 14;
    private static final int TOP = 30;
    private static final int BOTTOM = 44;
    private static final int TITLE = 34;
    /** More than a letter of the title is wide. */
    private static final int TITLE_STEP = 9;

    private static final int LEGEND = 34;
    private static final int LEGEND_STEP = 110;
    private static final int TICKS = 5;
    private static final double GROUP_SHARE = 0.8;
    private static final List<String> COLOURS =
            List.of("#0b62a4", "#d1495b", "#3a7d44", "#e08e0b", "#7b4fa3", "#5c6b73", "#00a6a6", "#8c564b");
    private static final List<String> DASHES = List.of("", "6 3", "2 2", "8 3 2 3", "4 2", "1 3", "10 4", "3 3");

    private final StringBuilder out = new StringBuilder();
    private final List<String> names = new ArrayList<>();

    private SvgPlot() {}

    /** @param origin says what the data come from; not drawn */
    public static String of(String title, String origin, List<Panel> panels) {
        return new SvgPlot().draw(title, origin, panels);
    }

    private String draw(String title, String origin, List<Panel> panels) {
        final int columns = Math.min(COLUMNS, panels.size());
        final int rows = (panels.size() + columns - 1) / columns;
        panels.forEach(panel -> panel.series().forEach(each -> {
            if (!names.contains(each.name())) {
                names.add(each.name());
            }
        }));
        final int width = Math.max(
                LEFT + title.length() * TITLE_STEP, Math.max(columns * WIDTH, names.size() * LEGEND_STEP + LEFT));
        final int height = TITLE + rows * HEIGHT + LEGEND;
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">",
                width, height);
        add("<desc>%s</desc>", escaped(origin));
        add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", width, height);
        text(LEFT / 2.0, TITLE - 14.0, "start", title, "font-size=\"14\" font-weight=\"bold\"");
        for (int i = 0; i < panels.size(); i++) {
            drawPanel(panels.get(i), i % columns * WIDTH, TITLE + i / columns * HEIGHT);
        }
        for (int i = 0; i < names.size(); i++) {
            final double x = LEFT + i * (double) LEGEND_STEP;
            final double y = height - LEGEND / 2.0;
            add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>", x, y, x + 22, y, stroke(i));
            text(x + 27, y + 4, "start", names.get(i), "");
        }
        add("</svg>");
        return out.toString();
    }

    private void drawPanel(Panel panel, int left, int top) {
        final double x0 = left + LEFT;
        final double y0 = top + HEIGHT - BOTTOM;
        final double width = WIDTH - LEFT - RIGHT;
        final double height = HEIGHT - TOP - BOTTOM;
        final double yStep = step(largest(panel.series().stream()
                .flatMapToDouble(each -> each.y().stream().mapToDouble(Double::doubleValue))));
        final double yEnd = yStep * TICKS;
        text(left + WIDTH / 2.0, top + TOP - 10.0, "middle", panel.title(), "font-weight=\"bold\"");
        text(
                left + 14.0,
                y0 - height / 2,
                "middle",
                panel.yName(),
                String.format(Locale.ROOT, "transform=\"rotate(-90 %.1f %.1f)\"", left + 14.0, y0 - height / 2));
        text(x0 + width / 2, y0 + 34, "middle", panel.xName(), "");
        for (int i = 0; i <= TICKS; i++) {
            final double y = y0 - height * i / TICKS;
            add("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>", x0, y, x0 + width, y);
            text(x0 - 5, y + 4, "end", number(yStep * i), "");
        }
        add("<path d=\"M%.1f %.1fV%.1fH%.1f\" fill=\"none\" stroke=\"#333333\"/>", x0, y0 - height, y0, x0 + width);
        if (panel.groups().isEmpty()) {
            drawLines(panel, x0, y0, width, height, yEnd);
        } else {
            drawBars(panel, x0, y0, width, height, yEnd);
        }
    }

    private void drawLines(Panel panel, double x0, double y0, double width, double height, double yEnd) {
        final double xStep = step(largest(panel.series().stream()
                .flatMapToDouble(each -> each.x().stream().mapToDouble(Double::doubleValue))));
        for (int i = 0; i <= TICKS; i++) {
            text(x0 + width * i / TICKS, y0 + 16, "middle", number(xStep * i), "");
        }
        for (Series each : panel.series()) {
            final StringBuilder path = new StringBuilder();
            for (int i = 0; i < each.x().size(); i++) {
                final double x = x0 + width * each.x().get(i) / (xStep * TICKS);
                final double y = y0 - height * each.y().get(i) / yEnd;
                path.append(String.format(Locale.ROOT, "%s%.1f %.1f", i == 0 ? "M" : "L", x, y));
            }
            add("<path d=\"%s\" fill=\"none\" %s/>", path, stroke(names.indexOf(each.name())));
        }
    }

    private void drawBars(Panel panel, double x0, double y0, double width, double height, double yEnd) {
        final double group = width / panel.groups().size();
        final double bar = group * GROUP_SHARE / panel.series().size();
        for (int i = 0; i < panel.groups().size(); i++) {
            text(x0 + group * (i + 0.5), y0 + 16, "middle", panel.groups().get(i), "");
            for (int j = 0; j < panel.series().size(); j++) {
                final Series each = panel.series().get(j);
                final double tall = height * each.y().get(i) / yEnd;
                add(
                        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
                        x0 + group * (i + (1 - GROUP_SHARE) / 2) + bar * j,
                        y0 - tall,
                        bar * GROUP_SHARE,
                        tall,
                        colour(names.indexOf(each.name())));
            }
        }
    }

    private static double largest(DoubleStream values) {
        return values.max().orElse(0);
    }

    /** A round distance of ticks so that all of them reach the value: 1, 2, 3, 4, 5 or 8 of a power of ten. */
    private static double step(double largest) {
        if (!(largest > 0)) {
            return 1;
        }
        double power = 1;
        while (power * TICKS > largest) {
            power /= 10;
        }
        while (power * 10 * TICKS <= largest) {
            power *= 10;
        }
        for (double factor : new double[] {1, 1.5, 2, 3, 4, 5, 8}) {
            if (power * factor * TICKS >= largest) {
                return power * factor;
            }
        }
        return power * 10;
    }

    private static String number(double value) {
        final String text = String.format(Locale.ROOT, "%.3f", value);
        return text.replaceAll("\\.?0+$", "");
    }

    private static String colour(int name) {
        return COLOURS.get(name % COLOURS.size());
    }

    private static String stroke(int name) {
        final String dash = DASHES.get(name % DASHES.size());
        return "stroke=\"" + colour(name) + "\" stroke-width=\"2\""
                + (dash.isEmpty() ? "" : " stroke-dasharray=\"" + dash + "\"");
    }

    private void text(double x, double y, String anchor, String text, String more) {
        add(
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>",
                x, y, anchor, more.isEmpty() ? "" : " " + more, escaped(text));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void add(String form, Object... values) {
        out.append(String.format(Locale.ROOT, form, values)).append('\n');
    }
}
