package io.regatta.fleet.command.tune;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The plot of a search as SVG: the metric of each trial against each parameter, one panel for each. Stateless. */
final class TrialPlot {

  private static final int WIDTH = 320;
  private static final int HEIGHT = 240;
  private static final int MARGIN = 48;
  private static final int RADIUS = 3;

  private TrialPlot() {}

  /**
   * Returns the plot.
   *
   * @param trials those that have a value are shown
   * @param best is shown in another color
   */
  static String svg(List<Trial> trials, Trial best, String metric) {
    List<Trial> shown = trials.stream().filter(each -> Double.isFinite(each.value())).toList();
    List<String> keys = new ArrayList<>(best.parameters().keySet());
    StringBuilder svg = new StringBuilder(String.format(Locale.ROOT,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">%n",
        WIDTH * keys.size(), HEIGHT));
    for (int panel = 0; panel < keys.size(); panel++) {
      svg.append(panel(shown, best, keys.get(panel), metric, panel * WIDTH));
    }
    return svg.append("</svg>\n").toString();
  }

  private static String panel(List<Trial> trials, Trial best, String key, String metric, int left) {
    List<String> words = trials.stream().map(each -> each.parameters().get(key).toString()).distinct().sorted().toList();
    boolean numbers = trials.stream().allMatch(each -> each.parameters().get(key) instanceof Number);
    double[] xs = trials.stream().mapToDouble(each -> numbers ? ((Number) each.parameters().get(key)).doubleValue()
        : words.indexOf(each.parameters().get(key).toString())).toArray();
    double least = Double.POSITIVE_INFINITY;
    double most = Double.NEGATIVE_INFINITY;
    double low = Double.POSITIVE_INFINITY;
    double high = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < xs.length; i++) {
      least = Math.min(least, xs[i]);
      most = Math.max(most, xs[i]);
      low = Math.min(low, trials.get(i).value());
      high = Math.max(high, trials.get(i).value());
    }
    boolean log = numbers && least > 0 && most / least > 20;
    StringBuilder svg = new StringBuilder(String.format(Locale.ROOT, "<g transform=\"translate(%d,0)\">%n"
        + "<rect x=\"%d\" y=\"16\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>%n"
        + "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s%s</text>%n<text x=\"%d\" y=\"12\">%s</text>%n", left, MARGIN,
        WIDTH - MARGIN - 16, HEIGHT - MARGIN - 16, (WIDTH + MARGIN) / 2, HEIGHT - 8, text(key), log ? ", logarithmic" : "", MARGIN,
        text(metric)));
    svg.append(label(MARGIN, HEIGHT - 24, "start", numbers ? number(least) : words.isEmpty() ? "" : words.get(0)));
    svg.append(label(WIDTH - 16, HEIGHT - 24, "end", numbers ? number(most) : words.isEmpty() ? "" : words.get(words.size() - 1)));
    svg.append(label(MARGIN - 4, HEIGHT - MARGIN, "end", number(low))).append(label(MARGIN - 4, 24, "end", number(high)));
    for (int i = 0; i < xs.length; i++) {
      double x = share(log ? Math.log(xs[i]) : xs[i], log ? Math.log(least) : least, log ? Math.log(most) : most);
      double y = share(trials.get(i).value(), low, high);
      svg.append(String.format(Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"><title>trial %d: %s</title></circle>%n",
          MARGIN + x * (WIDTH - MARGIN - 16), HEIGHT - MARGIN - y * (HEIGHT - MARGIN - 16), RADIUS,
          trials.get(i).equals(best) ? "#d00" : "#06c", trials.get(i).number(), number(trials.get(i).value())));
    }
    return svg.append("</g>\n").toString();
  }

  private static double share(double value, double least, double most) {
    return most > least ? (value - least) / (most - least) : 0.5;
  }

  private static String label(int x, int y, String anchor, String text) {
    return String.format(Locale.ROOT, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, text(text));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.4g", value);
  }

  private static String text(String plain) {
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
