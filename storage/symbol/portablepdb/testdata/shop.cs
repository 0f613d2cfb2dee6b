using System;
using System.Diagnostics;
using System.Threading.Tasks;
namespace Shop {
  class Cart {
    int[] items = {1, 2, 3};
    public int Total(int n) {
      int sum = 0;
      for (int i = 0; i < n; i++) {
        sum += items[i]; // fails
      }
      return sum;
    }
    public Func<int, int> Twice() {
      return x => {
        return Total(x) * 2;
      };
    }
  }
  class Program {
    static void Main(string[] args) {
      try {
        new Cart().Twice()(7);
      } catch (Exception e) {
        Console.WriteLine(e);
        foreach (var f in new StackTrace(e, true).GetFrames())
          Console.WriteLine(f.GetMethod().MetadataToken.ToString("x") + " " + f.GetILOffset().ToString("x") + " " + f.GetMethod().Name + " " + f.GetFileName() + ":" + f.GetFileLineNumber());
      }
    }
  }
}
