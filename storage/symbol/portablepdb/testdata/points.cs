// points writes an assembly anew with a portable PDB whose sequence points it makes up, beside it or
// embedded, and prints them as Mono.Cecil reads them back: token, offset, document, line, column.
using System;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;

class Points {
  static void Main(string[] args) {
    Write(args[0], args[1], args[2] == "embedded");
    var read = new ReaderParameters { ReadSymbols = true, SymbolReaderProvider = new DefaultSymbolReaderProvider() };
    using (var module = ModuleDefinition.ReadModule(args[1], read))
      foreach (var method in module.GetTypes().SelectMany(t => t.Methods).Where(m => m.HasBody))
        foreach (var p in method.DebugInformation.SequencePoints)
          Console.WriteLine("{0:x8} {1} {2}", method.MetadataToken.ToInt32(), p.Offset,
            p.IsHidden ? "hidden" : p.Document.Url + " " + p.StartLine + " " + p.StartColumn);
  }

  static void Write(string from, string to, bool embedded) {
    using (var module = ModuleDefinition.ReadModule(from)) {
      var documents = Enumerable.Range(0, 5).Select(i => new Document("/src/shop/part" + i + "/Cart" + i + ".cs")).ToArray();
      uint state = 7;
      foreach (var method in module.GetTypes().SelectMany(t => t.Methods).Where(m => m.HasBody)) {
        var document = documents[Next(ref state) % 5];
        foreach (var at in method.Body.Instructions) {
          if (Next(ref state) % 2 == 0) continue;
          if (Next(ref state) % 20 == 0) document = documents[Next(ref state) % 5];
          // Mono.Cecil 0.11 writes line deltas below -8192 with a wrong first byte.
          int line = (int)(1 + Next(ref state) % (Next(ref state) % 9 == 0 ? 3000u : 90u)), column = (int)(1 + Next(ref state) % 120);
          var p = new SequencePoint(at, document);
          if (Next(ref state) % 8 == 0) {
            p.StartLine = p.EndLine = 0xfeefee;
          } else {
            p.StartLine = line;
            p.StartColumn = column;
            p.EndLine = line + (int)(Next(ref state) % 3);
            p.EndColumn = column + 1 + (int)(Next(ref state) % 300);
          }
          method.DebugInformation.SequencePoints.Add(p);
        }
      }
      ISymbolWriterProvider provider = new PortablePdbWriterProvider();
      if (embedded) provider = new EmbeddedPortablePdbWriterProvider();
      module.Write(to, new WriterParameters { WriteSymbols = true, SymbolWriterProvider = provider });
    }
  }

  static uint Next(ref uint state) {
    state = state * 1664525 + 1013904223;
    return state >> 8;
  }
}
