package io.regatta.fleet.command.table;

import java.util.List;
import java.util.Locale;

/** A bar chart of the importance of features, as SVG. Stateless. */
final class ImportancePlot {

  private static final int BAR = 18;
  private static final int GAP = 6;
  private static final int LEFT = 220;
  private static final int WIDTH = 400;
  private static final int RIGHT = 90;
  private static final int TOP = 40;
  private static final int NAME_MAX = 30;

  private ImportancePlot() {}

  static String svg(Explanation.Result result) {
    List<Explanation.Entry> entries = result.entries();
    double most = Math.max(1e-12, entries.stream().mapToDouble(entry -> Math.max(0, entry.importance()) + entry.deviation()).max().orElse(0));
    int height = TOP + entries.size() * (BAR + GAP) + GAP;
    StringBuilder svg = new StringBuilder(String.format(Locale.ROOT, """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">
        <rect width="100%%" height="100%%" fill="white"/>
        <text x="10" y="20" font-size="14">Loss in %s (%.4f on %d examples) if a feature is shuffled</text>
        """, LEFT + WIDTH + RIGHT, height, escaped(result.metric()), result.value(), result.examples()));
    for (int i = 0; i < entries.size(); i++) {
      Explanation.Entry entry = entries.get(i);
      int y = TOP + i * (BAR + GAP);
      double width = WIDTH * Math.max(0, entry.importance()) / most;
      double end = WIDTH * entry.deviation() / most;
      svg.append(String.format(Locale.ROOT, """
          <text x="%d" y="%d" text-anchor="end">%s</text>
          <rect x="%d" y="%d" width="%.1f" height="%d" fill="#4477aa"/>
          <line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="black"/>
          <text x="%.1f" y="%d">%.4f</text>
          """, LEFT - 8, y + BAR - 5, escaped(entry.name().length() <= NAME_MAX ? entry.name() : entry.name().substring(0, NAME_MAX) + "..."),
          LEFT, y, width, BAR, LEFT + Math.max(0, width - end), LEFT + width + end, y + BAR / 2, y + BAR / 2, LEFT + width + end + 6,
          y + BAR - 5, entry.importance()));
    }
    return svg.append("</svg>\n").toString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
