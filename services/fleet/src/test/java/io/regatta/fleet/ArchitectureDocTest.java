package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The pages name methods and types that exist, and the walks of docs/architecture.md can be walked. The method of each
 * hop calls that of the next one, or the page says in words which border the walk crosses.
 */
class ArchitectureDocTest {

  private static final String PAGE = "docs/architecture.md";

  /** A link to a source file: its text, and the path. */
  private static final Pattern LINK = Pattern.compile("\\[([^\\]\\[]*)]\\(([^)\\s#]+\\.java)(?:#[^)]*)?\\)");
  /** {@code Type}, {@code Outer.Type} or either with a method. */
  private static final Pattern NAME = Pattern.compile("`((?:[A-Z]\\w*\\.)*[A-Z]\\w*)(?:\\.([a-z]\\w*))?`");
  private static final Pattern HOP = Pattern.compile("\\d+\\. (?:\\*(.*?):\\* )?(\\[`.*)");
  private static final Pattern BACK = Pattern.compile("Back in (`[\\w.]+`)");
  /** Words for borders that no call crosses. */
  private static final Pattern CROSSING = Pattern.compile("\\b(threads?|loop|stream|file|DJL)\\b");

  /** Main sources by simple name of the type that they are named after. */
  private static final Map<String, List<Path>> SOURCES = new HashMap<>();
  private static final Map<Path, JavaSource> PARSED = new HashMap<>();
  private static final Map<Path, String> FOLDERS = new HashMap<>();

  /**
   * A method, or a whole type, that a page names.
   *
   * @param type simple name, without those of the types around it
   * @param method null: the type
   */
  private record Named(String text, Path file, String type, String method) {

    JavaSource.Type parsed() {
      return parse(file).types().get(type);
    }

    /** Names of the methods that it calls. */
    Set<String> calls() {
      return method == null ? parsed().allCalls() : parsed().calls().get(method);
    }

    boolean exists() {
      return Files.exists(file) && parsed() != null && (method == null || parsed().calls().containsKey(method));
    }
  }

  /**
   * One hop of a walk.
   *
   * @param marker the words before its link, or null
   */
  private record Hop(String line, String marker, Named to) {}

  @BeforeAll
  static void listSources() throws IOException {
    Files.walkFileTree(Checkout.root(), new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes of) {
        boolean other = Set.of("target", "test", ".git").contains(folder.getFileName().toString());
        return other && !folder.equals(Checkout.root()) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes of) {
        String name = file.getFileName().toString();
        if (name.endsWith(".java")) {
          SOURCES.computeIfAbsent(name.replace(".java", ""), type -> new ArrayList<>()).add(file);
        }
        return FileVisitResult.CONTINUE;
      }
    });
  }

  @Test
  void names_behind_links_to_sources_exist() throws IOException {
    List<String> wrong = new ArrayList<>();
    int links = 0;
    for (Path page : pages()) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        links++;
        String mistake = mistake(page, link.group(1), link.group(2));
        if (mistake != null) {
          wrong.add(page.getFileName() + ": " + link.group() + " " + mistake);
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(links).as("links to sources").isGreaterThan(50);
  }

  /** Returns what is wrong with a link, or null. */
  private static String mistake(Path page, String text, String target) {
    if (!text.startsWith("`")) {
      return null; // a sentence's words; that the file exists is ReadmeTest's to see
    }
    if (!NAME.matcher(text).matches()) {
      return "has a text that is no `Type` or `Type.method`";
    }
    Path file = page.resolveSibling(target).normalize();
    return named(file, text).exists() ? null
        : "names no file that declares this; mend the link, or the text around it as well";
  }

  @Test
  void hops_of_the_walks_follow_one_another() throws IOException {
    Map<String, List<Hop>> walks = walks();
    assertThat(walks).hasSize(2);
    List<String> wrong = new ArrayList<>();
    walks.forEach((title, hops) -> {
      assertThat(hops).as(title).hasSizeGreaterThan(10);
      for (int n = 1; n < hops.size(); n++) {
        String mistake = mistake(hops.subList(0, n), hops.get(n));
        if (mistake != null) {
          wrong.add(title + ", " + hops.get(n).line() + ": " + mistake);
        }
      }
    });
    assertThat(wrong).isEmpty();
  }

  /** Returns why the walk cannot continue by this hop, or null. */
  private static String mistake(List<Hop> before, Hop hop) {
    Named from = before.get(before.size() - 1).to();
    if (hop.marker() != null) {
      Matcher back = BACK.matcher(hop.marker());
      if (!back.matches()) {
        return CROSSING.matcher(hop.marker()).find() ? null : "its words name no thread, loop, stream or file";
      }
      from = earlier(before, back.group(1));
      if (from == null) {
        return hop.marker() + ", which is no hop before it";
      }
    }
    if (!from.exists() || !hop.to().exists()) {
      return "it, or the hop before it, is not there";
    }
    if (!from.calls().contains(hop.to().method())) {
      return from.text() + " calls no " + hop.to().method();
    }
    Set<String> names = supertypes(hop.to());
    String folder = folder(from.file());
    return names.stream().anyMatch(name -> Pattern.compile("\\b" + name + "\\b").matcher(folder).find()) ? null
        : "nothing beside " + from.text() + " names any of " + names;
  }

  /** Returns the hop of this name, or a whole type of an earlier hop; null if there is none. */
  private static Named earlier(List<Hop> before, String text) {
    for (Hop hop : before) {
      if (hop.to().text().equals(text)) {
        return hop.to();
      }
    }
    Matcher type = NAME.matcher(text);
    return !type.matches() || type.group(2) != null ? null : before.stream().map(Hop::to)
        .filter(to -> to.text().startsWith(text.substring(0, text.length() - 1) + "."))
        .map(to -> named(to.file(), text)).findFirst().orElse(null);
  }

  /** Returns the simple names of a type and of all that it extends or implements, as far as it is ours. */
  private static Set<String> supertypes(Named of) {
    Set<String> names = new LinkedHashSet<>(Set.of(of.type()));
    addSupertypes(of.parsed(), names);
    return names;
  }

  private static void addSupertypes(JavaSource.Type type, Set<String> to) {
    for (String name : type.supertypes()) {
      if (to.add(name)) {
        for (Path file : SOURCES.getOrDefault(name, List.of())) {
          addSupertypes(parse(file).types().get(name), to);
        }
      }
    }
  }

  @Test
  void arrows_of_the_picture_point_down() {
    Matcher picture = Pattern.compile("```mermaid\n(.*?)```", Pattern.DOTALL).matcher(Checkout.text(PAGE));
    assertThat(picture.find()).isTrue();
    List<String> boxes = new ArrayList<>();
    List<String> up = new ArrayList<>();
    Set<String> reached = new HashSet<>();
    for (String line : picture.group(1).lines().map(String::strip).toList()) {
      Matcher box = Pattern.compile("([a-z]+)\\[\".*\"]").matcher(line);
      if (box.matches()) {
        boxes.add(box.group(1));
      } else if (line.contains("-->")) {
        String[] ends = line.split(" --> ");
        for (String from : ends[0].split(" & ")) {
          for (String to : ends[1].split(" & ")) {
            reached.add(to);
            if (!boxes.contains(from) || boxes.indexOf(to) <= boxes.indexOf(from)) {
              up.add(from + " --> " + to);
            }
          }
        }
      }
    }
    assertThat(up).as("arrows to a box that does not stand below").isEmpty();
    assertThat(boxes.subList(1, boxes.size())).as("boxes below the first").allMatch(reached::contains);
  }

  private static List<Path> pages() throws IOException {
    try (Stream<Path> files = Files.list(Checkout.file("docs"))) {
      return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
    }
  }

  /** Returns the hops of each section whose title begins with {@code Walk}. */
  private static Map<String, List<Hop>> walks() {
    Map<String, List<Hop>> walks = new LinkedHashMap<>();
    String section = "";
    for (String line : Checkout.text(PAGE).lines().toList()) {
      if (line.startsWith("## ")) {
        section = line.substring(3);
      }
      Matcher hop = HOP.matcher(line);
      if (section.startsWith("Walk") && hop.matches()) {
        Matcher link = LINK.matcher(hop.group(2));
        assertThat(link.find()).as(line).isTrue();
        Path file = Checkout.file(PAGE).resolveSibling(link.group(2)).normalize();
        walks.computeIfAbsent(section, of -> new ArrayList<>())
            .add(new Hop(line.substring(0, line.indexOf(']')), hop.group(1), named(file, link.group(1))));
      }
    }
    return walks;
  }

  private static Named named(Path file, String text) {
    Matcher name = NAME.matcher(text);
    assertThat(name.matches()).as(text).isTrue();
    String type = name.group(1);
    return new Named(text, file, type.substring(type.lastIndexOf('.') + 1), name.group(2));
  }

  private static JavaSource parse(Path file) {
    return PARSED.computeIfAbsent(file, JavaSource::of);
  }

  /** Returns the text of all sources in a file's folder. */
  private static String folder(Path file) {
    return FOLDERS.computeIfAbsent(file.getParent(), folder -> {
      try (Stream<Path> files = Files.list(folder)) {
        StringBuilder text = new StringBuilder();
        for (Path source : files.filter(Files::isRegularFile).toList()) {
          text.append(Files.readString(source));
        }
        return text.toString();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    });
  }
}
