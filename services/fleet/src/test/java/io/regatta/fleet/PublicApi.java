package io.regatta.fleet;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The public API: the types of the packages whose {@code package-info.java} ends with {@value #MARK}, and some single
 * types. Read from the sources of the checkout.
 */
final class PublicApi {

  private static final String MARK = "Part of the public API.";
  private static final Pattern MARKED = Pattern.compile(Pattern.quote(MARK) + "\\s*\\*/\\s*package ([\\w.]+);");
  private static final Pattern IMPORT = Pattern.compile("import (?:static )?(io\\.regatta\\.[\\w.]+)");
  private static final Pattern TYPE = Pattern.compile("((?:[a-z]\\w*\\.)+)([A-Z]\\w*).*");

  /** Types that belong to the API alone of their packages; the others there are machinery. */
  private static final Map<String, String> TYPES = Map.ofEntries(
      Map.entry("io.regatta.core.collective.schedule.Choices", "the algorithms that a collective may choose"),
      Map.entry("io.regatta.core.exchange.Mode", "a key of the job"),
      Map.entry("io.regatta.core.exchange.NanPolicy", "a key of the job"),
      Map.entry("io.regatta.core.exchange.Shrunk", "the result of Worker.shrink"),
      Map.entry("io.regatta.core.exchange.Wait", "the waits of an application that /why shows"),
      Map.entry("io.regatta.fleet.process.ServiceConfigs", "the sections of services in LocalCluster.Options"),
      Map.entry("io.regatta.fleet.role.Role", "the role of a process"),
      Map.entry("io.regatta.protocol.security.PeerSecurity", "the token and TLS of a store or a collective"),
      Map.entry("io.regatta.protocol.stream.StreamOptions", "the options of a collective's streams"),
      Map.entry("io.regatta.protocol.stream.Transport", "a key of those options"),
      Map.entry("io.regatta.snapshot.SnapshotKind", "a parameter of Worker.snapshot"));

  /** Libraries whose types the API may name. Micrometer's are the metrics of an application. */
  private static final List<String> LIBRARIES = List.of("java.", "ai.djl.", "io.vertx.", "io.micrometer.core.");

  private final Set<String> packages = new TreeSet<>();

  /** Reads the marks of all packages. */
  PublicApi() throws IOException {
    read(Checkout.root(), path -> path.endsWith("package-info.java"), (path, text) -> {
      Matcher marked = MARKED.matcher(text);
      if (marked.find()) {
        packages.add(marked.group(1));
      }
    });
  }

  private interface Choice {
    boolean takes(Path path);
  }

  private static void read(Path root, Choice choice, BiConsumer<Path, String> to) throws IOException {
    Files.walkFileTree(root, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
        String name = String.valueOf(directory.getFileName());
        return name.equals("target") || name.startsWith(".") && !directory.equals(root)
            ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        if (choice.takes(file)) {
          to.accept(file, Files.readString(file));
        }
        return FileVisitResult.CONTINUE;
      }
    });
  }

  /** Returns the marked packages. */
  Set<String> packages() {
    return packages;
  }

  /** Returns true if a type belongs to the API, or is none of Regatta's. */
  boolean has(JavaClass type) {
    return !type.getName().startsWith("io.regatta.") || has(type.getPackageName(), outermost(type).getName());
  }

  private boolean has(String inPackage, String type) {
    return packages.contains(inPackage) || TYPES.containsKey(type);
  }

  /** Returns the single types. */
  static Set<String> types() {
    return TYPES.keySet();
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(PublicApi::outermost).orElse(type);
  }

  /** Returns the imports of the documents, and of the projects beside them, that do not belong to the API. */
  Set<String> otherImportsOfDocuments() throws IOException {
    Set<String> others = new TreeSet<>();
    for (Path root : List.of(Checkout.file("README.md"), Checkout.file("docs"))) {
      read(root, path -> path.toString().endsWith(".java") || path.toString().endsWith(".md"), (path, text) -> {
        Matcher imports = IMPORT.matcher(text);
        while (imports.find()) {
          Matcher type = TYPE.matcher(imports.group(1));
          if (!type.matches() || !has(type.group(1).replaceAll("\\.$", ""), type.group(1) + type.group(2))) {
            others.add(Checkout.root().relativize(path) + ": " + imports.group(1));
          }
        }
      });
    }
    return others;
  }

  /**
   * Returns the visible members of the API, {@code Type.member}, whose signatures name types outside of it. A type is
   * named by itself if its supertypes or bounds do so.
   */
  Set<String> leaks(JavaClasses all) {
    Set<String> leaks = new TreeSet<>();
    all.stream().filter(type -> has(type) && type.getName().startsWith("io.regatta.") && isVisible(type))
        .forEach(type -> signatures(type).forEach((member, named) -> {
          if (!named.stream().map(JavaClass::getBaseComponentType).allMatch(this::mayName)) {
            leaks.add(member);
          }
        }));
    return leaks;
  }

  private boolean mayName(JavaClass type) {
    return type.isPrimitive() || (type.getName().startsWith("io.regatta.") ? has(type)
        : LIBRARIES.stream().anyMatch(type.getName()::startsWith));
  }

  private static boolean isVisible(JavaClass type) {
    return isVisible(type.getModifiers()) && type.getEnclosingClass().map(PublicApi::isVisible).orElse(true);
  }

  private static boolean isVisible(Set<JavaModifier> modifiers) {
    return (modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED))
        && !modifiers.contains(JavaModifier.SYNTHETIC);
  }

  private static Map<String, Set<JavaClass>> signatures(JavaClass type) {
    Map<String, Set<JavaClass>> named = new LinkedHashMap<>();
    String name = type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
    add(named, name, Stream.of(type.getSuperclass().stream(), type.getInterfaces().stream(),
        type.getTypeParameters().stream().flatMap(parameter -> parameter.getUpperBounds().stream())).flatMap(s -> s));
    for (JavaField field : type.getFields()) {
      if (isVisible(field.getModifiers())) {
        add(named, name + "." + field.getName(), Stream.of(field.getType()));
      }
    }
    for (JavaCodeUnit unit : type.getCodeUnits()) {
      if (isVisible(unit.getModifiers())) {
        add(named, name + "." + unit.getName().replaceAll("[<>]", ""), Stream.of(Stream.of(unit.getReturnType()),
            unit.getParameterTypes().stream(), unit.getExceptionTypes().stream(),
            unit.getTypeParameters().stream().flatMap(parameter -> parameter.getUpperBounds().stream()))
            .flatMap(s -> s));
      }
    }
    return named;
  }

  private static void add(Map<String, Set<JavaClass>> named, String member, Stream<? extends JavaType> types) {
    types.forEach(type -> named.computeIfAbsent(member, m -> new HashSet<>()).addAll(type.getAllInvolvedRawTypes()));
  }
}
